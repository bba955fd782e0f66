# Makes tables of what the parts of test/bench/run have measured. measure.sh describes the input.
#
#     awk -v form=text|markdown|csv [-v only=PART] [-v spread=yes] -f render.awk ROWS
#
# A figure has the median and the quartiles of its rounds. The ratio is the median of the ratios to
# the reference within a round. `spread` adds the quartiles of these ratios to the text.
#
# The reference "again" is the same contender once more: where nine of ten of its own ratios are, a
# ratio says nothing. Such a ratio is shown as =, except in the CSV.

BEGIN { FS = "\t" }

$1 == "part" && (only == "" || only == $2) { parts[++part_count] = $2; title[$2] = $3; text[$2] = $4 }
$1 == "figure" {
  whats[$2, ++what_count[$2]] = $3
  unit[$2, $3] = $4; reference[$2, $3] = $5; headline[$2, $3] = $6
}
$1 == "sample" && sub(/ again$/, "", $4) {
  if ($4 == reference[$2, $3]) again[$2, $3, $5] = $6
  next
}
$1 == "sample" {
  if (!(($2, $3, $4) in round_count)) contenders[$2, $3, ++contender_count[$2, $3]] = $4
  round_count[$2, $3, $4]++
  if ($5 > last_round) last_round = $5
  sample[$2, $3, $4, $5] = $6
}

END {
  if (form == "csv") csv()
  else if (form == "markdown") markdown()
  else terminal()
}

# Sets median, low and high of the numbers list[1..n].
function quartiles(list, n,    i, j, x) {
  for (i = 2; i <= n; i++) {
    x = list[i]
    for (j = i - 1; j >= 1 && list[j] > x; j--) list[j + 1] = list[j]
    list[j + 1] = x
  }
  low = quantile(list, n, 0.25); median = quantile(list, n, 0.5); high = quantile(list, n, 0.75)
}

function quantile(list, n, q,    place, i) {
  place = 1 + (n - 1) * q
  i = int(place)
  return i < n ? list[i] + (list[i + 1] - list[i]) * (place - i) : list[n]
}

# Sets ratio ("" without one) and its quartiles, and median, low and high, of one contender.
function summarize(part, what, name,    r, n, m, list, ratios, beside) {
  beside = reference[part, what]
  n = m = 0
  for (r = 1; r <= last_round; r++) {
    if (!((part, what, name, r) in sample)) continue
    list[++n] = sample[part, what, name, r] + 0
    if (beside == "" || name == beside || sample[part, what, beside, r] == 0) continue
    ratios[++m] = list[n] / sample[part, what, beside, r]
  }
  ratio = ""
  if (m > 0) { quartiles(ratios, m); ratio = median; ratio_low = low; ratio_high = high }
  quartiles(list, n)
}

# Sets same_low and same_high ("" without them), between which ratios say nothing.
function find_same(part, what,    r, j, m, x, ratios, beside) {
  beside = reference[part, what]
  same_low = same_high = ""
  for (r = 1; r <= last_round; r++)
    if ((part, what, r) in again && sample[part, what, beside, r] != 0)
      ratios[++m] = again[part, what, r] / sample[part, what, beside, r]
  if (m == 0) return
  for (r = 2; r <= m; r++) {
    x = ratios[r]
    for (j = r - 1; j >= 1 && ratios[j] > x; j--) ratios[j + 1] = ratios[j]
    ratios[j + 1] = x
  }
  same_low = quantile(ratios, m, 0.05); same_high = quantile(ratios, m, 0.95)
}
function same_text() { return same_low == "" ? "" : sprintf("%.2f–%.2f", same_low, same_high) }

function csv(    p, w, c, part, what, name) {
  print "part,what,contender,unit,median,low,high,ratio,reference,rounds,same_low,same_high"
  for (p = 1; p <= part_count; p++) {
    part = parts[p]
    for (w = 1; w <= what_count[part]; w++) {
      what = whats[part, w]
      for (c = 1; c <= contender_count[part, what]; c++) {
        name = contenders[part, what, c]
        summarize(part, what, name)
        find_same(part, what)
        printf "%s,%s,%s,%s,%.10g,%.10g,%.10g,%s,%s,%d,%s,%s\n", part, what, name, unit[part, what], median, low, high, \
          ratio == "" ? "" : sprintf("%.4g", ratio), reference[part, what], round_count[part, what, name], \
          same_low == "" ? "" : sprintf("%.4g", same_low), same_high == "" ? "" : sprintf("%.4g", same_high)
      }
    }
  }
}

function terminal(    p, w, c, part, what, name) {
  for (p = 1; p <= part_count; p++) {
    part = parts[p]
    printf "\n== %s\n%-44s %12s %12s %12s %8s\n", title[part], "", "median", "low", "high", "ratio"
    for (w = 1; w <= what_count[part]; w++) {
      what = whats[part, w]
      find_same(part, what)
      printf "%s, %s%s\n", what, unit[part, what], same_low == "" ? "" : "; `" reference[part, what] "` against itself: " same_text()
      for (c = 1; c <= contender_count[part, what]; c++) {
        name = contenders[part, what, c]
        summarize(part, what, name)
        printf "    %-40s %12s %12s %12s %8s%s\n", name, number(median), number(low), number(high), ratio_text(), ratio_spread()
      }
    }
  }
}

# The headlines, then each part with its contenders side by side.
function markdown(    p, w, part, what) {
  print "\nMedians of several rounds with their quartiles. The ratio is that to the contender beside it."
  print "Then all contenders; × is their ratio. *Itself* is the range of nine of ten ratios of that"
  print "contender to itself, measured twice in each round. A ratio in this range says nothing: =.\n"
  print "| | unit | snowflake | beside it | | ratio | itself |\n|---|---|---|---|---|---|---|"
  for (p = 1; p <= part_count; p++) {
    part = parts[p]
    for (w = 1; w <= what_count[part]; w++) {
      what = whats[part, w]
      if (headline[part, what] != "") print headline_row(part, what)
    }
  }
  for (p = 1; p <= part_count; p++) side_by_side(parts[p])
}

function headline_row(part, what,    c, name, row, beside, share) {
  row = "| " what " | " unit[part, what] " | "
  beside = reference[part, what]
  find_same(part, what)
  for (c = 1; c <= contender_count[part, what]; c++) {
    name = contenders[part, what, c]
    if (name !~ /^snowflake/) continue
    summarize(part, what, name)
    row = row with_spread()
    share = ratio_text()
    break
  }
  if (beside == "") return row " | | | | |"
  summarize(part, what, beside)
  return row " | `" beside "` | " with_spread() " | " share " | " same_text() " |"
}

# One table for consecutive figures that begin with the same contender.
function side_by_side(part,    w, first) {
  printf "\n### %s\n\n%s\n", title[part], text[part]
  for (w = first = 1; w <= what_count[part]; w++) {
    if (w < what_count[part] && first_contender(part, w + 1) == first_contender(part, first)) continue
    table(part, first, w)
    first = w + 1
  }
}

function first_contender(part, w) { return contenders[part, whats[part, w], 1] }

function table(part, from, to,    w, c, n, k, what, name, row, rule, place, names) {
  row = "| | unit |"; rule = "|---|---|"
  for (w = from; w <= to; w++) {
    what = whats[part, w]
    for (c = 1; c <= contender_count[part, what]; c++) {
      name = contenders[part, what, c]
      if (name in place) continue
      place[name] = ++n; names[n] = name
      row = row " `" name "` |"; rule = rule "---|"
    }
  }
  print "\n" row " itself |\n" rule "---|"
  for (w = from; w <= to; w++) {
    what = whats[part, w]
    find_same(part, what)
    row = "| " what " | " unit[part, what] " |"
    for (k = 1; k <= n; k++) {
      if ((part, what, names[k]) in round_count) {
        summarize(part, what, names[k])
        row = row " " with_spread() (ratio == "" ? "" : " ×" ratio_text())
      }
      row = row " |"
    }
    print row " " same_text() (same_low == "" ? "" : " ") "|"
  }
}

function with_spread() { return number(median) " (" number(low) "–" number(high) ")" }
function ratio_text() {
  if (ratio == "") return ""
  if (same_low != "" && ratio >= same_low && ratio <= same_high) return "="
  return sprintf(ratio < 0.1 ? "%.3f" : "%.2f", ratio)
}
function ratio_spread() {
  return ratio == "" || spread == "" ? "" : sprintf("   %.3f (%.3f to %.3f)", ratio, ratio_low, ratio_high)
}

# Three significant digits, with commas between thousands.
function number(x,    digits, grouped) {
  if (x < 0) return "-" number(-x)
  if (x > 0 && x < 0.9995) return sprintf("%.3f", x)
  if (x < 9.995) return sprintf("%.2f", x)
  if (x < 99.95) return sprintf("%.1f", x)
  digits = sprintf("%.0f", x)
  while (length(digits) > 3) {
    grouped = "," substr(digits, length(digits) - 2) grouped
    digits = substr(digits, 1, length(digits) - 3)
  }
  return digits grouped
}
