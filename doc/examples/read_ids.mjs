// Reads ids of the default layout without the database, with Node.js: their time, their base58 text
// and masked texts. `keys` maps each number in the file of keys to its 32 bytes. See
// ../public-ids.md.
import { createCipheriv } from 'node:crypto'

const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

const timeOf = id => new Date(Date.UTC(2025, 0, 1) + Number(id >> 22n))

const numberOf = base58 => [...base58].reduce((number, digit) => {
  if (!digits.includes(digit)) throw new RangeError(`not a digit of base58: ${digit}`)
  return number * 58n + BigInt(digits.indexOf(digit))
}, 0n)

function roundValue(key, tweak, number, half) {
  const body = Buffer.alloc(16 * Math.ceil((tweak.length + 6) / 16))
  body.set(tweak)
  body.writeUInt8(number, body.length - 6)
  body.writeUIntBE(half, body.length - 5, 5)
  const head = Buffer.from([1, 2, 1, 0, 0, 2, 10, 40, 0, 0, 0, 80, 0, 0, 0, tweak.length])
  const cipher = createCipheriv('aes-256-cbc', key, Buffer.alloc(16))
  const blocks = cipher.update(Buffer.concat([head, body]))
  return blocks.readUIntBE(blocks.length - 9, 5)                         // the remainder by 2^40
}

function unmask(text, prefix, keys) {
  const head = prefix && prefix + '_'
  if (!text.startsWith(head) || text.length !== head.length + 15) {
    throw new RangeError('another prefix or length')
  }
  const key = keys[numberOf(text.at(-15))]
  const bits = numberOf(text.slice(-14))
  if (!key || bits >> 80n) throw new RangeError('unknown key, or above all masked ids')
  let [left, right] = [Number(bits >> 40n), Number(bits & 0xffffffffffn)]
  for (let number = 9; number >= 0; number--) {
    const value = roundValue(key, Buffer.from(prefix), number, left);
    [left, right] = [(right - value + 2 ** 40) % 2 ** 40, left]
  }
  const result = BigInt(left) << 40n | BigInt(right)
  if (result & 0xffffn) throw new RangeError('changed, or masked with another key')
  return BigInt.asIntN(64, result >> 16n)
}
