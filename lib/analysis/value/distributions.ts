/**
 * Tail probabilities and quantiles for small samples. All are finite sums, because counts and degrees of freedom are whole numbers, so
 * no approximation and no library of special functions is needed. golden/make_value.py compares them with scipy.
 */
import { elementAt } from '#lib/util/element-at.ts'

/** Returns P(X ≥ k) of a binomial variable: k or more successes in n trials with the probability p. */
export function binomialUpperTail(k: number, n: number, p: number): number {
  if (k <= 0 || p >= 1) return k > n ? 0 : 1
  if (p <= 0) return 0
  let sum = 0
  for (let x = k; x <= n; x++) sum += Math.exp(logChoose(n, x) + x * Math.log(p) + (n - x) * Math.log1p(-p))
  return Math.min(1, sum)
}

/**
 * Returns P(X ≥ k) of a hypergeometric variable: k or more successes among `drawn` of `total` items, `successes` of which are
 * successes. It is the one-sided p of Fisher's exact test.
 */
export function hypergeometricUpperTail(k: number, drawn: number, successes: number, total: number): number {
  let sum = 0
  const scale = logChoose(total, drawn)
  for (let x = Math.max(k, drawn + successes - total, 0); x <= Math.min(drawn, successes); x++)
    sum += Math.exp(logChoose(successes, x) + logChoose(total - successes, drawn - x) - scale)
  return Math.min(1, sum)
}

/** Returns P(T ≥ t) of Student's t with a whole number of degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4). */
export function studentUpperTail(t: number, degrees: number): number {
  if (t < 0) return 1 - studentUpperTail(-t, degrees)
  const angle = Math.atan(t / Math.sqrt(degrees))
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)]
  const isOdd = degrees % 2 === 1
  let term = isOdd ? cosine : 1
  let sum = degrees > 1 ? term : 0
  for (let power = isOdd ? 3 : 2; power <= degrees - 2; power += 2) {
    term *= ((power - 1) / power) * cosine * cosine
    sum += term
  }
  const inside = isOdd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum
  return Math.max(0, (1 - inside) / 2)
}

/** Returns the t that Student's distribution exceeds with the probability `tail`, which is at most 0.5. */
export function studentQuantile(tail: number, degrees: number): number {
  let high = 1
  while (studentUpperTail(high, degrees) > tail) high *= 2
  return bisect(0, high, (t) => studentUpperTail(t, degrees) > tail)
}

/** Halvings until an interval of numbers between 0 and 1 has no number inside. */
const HALVINGS = 60

/** Returns where a monotonic test on real numbers, which holds at `low`, stops to hold before `high`. */
export function bisect(low: number, high: number, holds: (value: number) => boolean): number {
  let [below, above] = [low, high]
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (below + above) / 2
    if (holds(middle)) below = middle
    else above = middle
  }
  return (below + above) / 2
}

const logChoose = (n: number, k: number): number => logFactorial(n) - logFactorial(k) - logFactorial(n - k)

/** log n! by n, as far as it was needed: a group of 64 samples needs the same ones a million times. */
const logFactorials = [0]

function logFactorial(n: number): number {
  for (let next = logFactorials.length; next <= n; next++)
    logFactorials.push(elementAt(logFactorials, next - 1) + Math.log(next))
  return elementAt(logFactorials, n)
}
