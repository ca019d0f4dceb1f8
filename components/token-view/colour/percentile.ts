import { float64At } from '#lib/util/element-at.ts'

/**
 * Returns the value at a share of the sorted values, exactly: the element at `floor(n · share)` of the sorted array, found in linear time
 * with Hoare's selection. Returns undefined if there are no values. Reorders the array.
 */
export function selectPercentile(values: Float64Array, share: number): number | undefined {
  const wanted = Math.min(values.length - 1, Math.floor(values.length * share))
  let low = 0
  let high = values.length - 1
  while (low < high) {
    const pivot = float64At(values, (low + high) >> 1)
    let left = low
    let right = high
    while (left <= right) {
      while (float64At(values, left) < pivot) left++
      while (float64At(values, right) > pivot) right--
      if (left > right) break
      const swapped = float64At(values, left)
      values[left++] = float64At(values, right)
      values[right--] = swapped
    }
    if (wanted <= right) high = right
    else if (wanted >= left) low = left
    else break
  }
  return values[wanted]
}
