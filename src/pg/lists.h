// Loops over PostgreSQL's lists.
#pragma once

#include "pg/pg.h"

#include <type_traits>

namespace snowflake {
// A copy in the present memory context, as lists take it.
template <typename T>
T *CopyOf(const T &value) {
  T *copy = static_cast<T *>(palloc(sizeof(T)));
  *copy = value;
  return copy;
}

// The elements of a list that does not change meanwhile: pointers of type T, OIDs if T is Oid, and
// otherwise what the pointers lead to.
template <typename T>
class Each {
 public:
  explicit Each(const List *list) : begin_(list_head(list)), end_(begin_ + list_length(list)) {}

  class Iterator {
   public:
    explicit Iterator(const ListCell *cell) : cell_(cell) {}
    decltype(auto) operator*() const {
      if constexpr (std::is_pointer_v<T>)
        return static_cast<T>(lfirst(cell_));
      else if constexpr (std::is_same_v<T, Oid>)
        return Oid{lfirst_oid(cell_)};
      else
        return (*static_cast<T *>(lfirst(cell_)));
    }
    Iterator &operator++() { return ++cell_, *this; }
    bool operator!=(const Iterator &other) const { return cell_ != other.cell_; }

   private:
    const ListCell *cell_;
  };

  Iterator begin() const { return Iterator(begin_); }
  Iterator end() const { return Iterator(end_); }

 private:
  const ListCell *begin_, *end_;
};

}  // namespace snowflake
