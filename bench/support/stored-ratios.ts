/** Compares figures with those of an earlier run, where the machine does not matter: ratios, sizes and numbers of nodes. */
import type { Figure } from './figures.ts'

/** Stored values by the name of the bench, then by the name of the figure. */
export type StoredRatios = Readonly<Record<string, Readonly<Record<string, number>>>>

/** A figure with the value that is stored for it. */
export interface ComparedFigure {
  readonly figure: Figure
  readonly stored: number
  /** How much worse the figure is, as a part of the stored value; negative if it is better. NaN if it is unknown. */
  readonly loss: number
}

/** The result of a comparison with stored values. */
export interface StoredRatioComparison {
  readonly compared: readonly ComparedFigure[]
  /** Figures that nothing is stored for. */
  readonly added: readonly Figure[]
  /** Names of stored figures that a bench of this run no longer reports, as `bench: figure`. */
  readonly missing: readonly string[]
}

/** The greatest loss that is accepted, as a part of the stored value. */
const ACCEPTED_LOSS = 0.1

const COMPARABLE_UNITS: ReadonlySet<Figure['unit']> = new Set(['×', 'MB', 'kB', 'nodes'])

/** Returns whether a figure means the same on every machine; milliseconds do not. */
const isComparable = ({ unit }: Figure): boolean => COMPARABLE_UNITS.has(unit)

/** Compares the figures of the benches that have run with the stored values. */
export function compareWithStored(figures: readonly Figure[], stored: StoredRatios): StoredRatioComparison {
  const comparable = figures.filter(isComparable)
  const storedOf = ({ bench, what }: Figure): number | undefined => stored[bench]?.[what]
  const reported = new Set(comparable.map(nameOf))
  const ran = new Set(figures.map(({ bench }) => bench))
  return {
    compared: comparable.flatMap((figure) => {
      const value = storedOf(figure)
      return value === undefined ? [] : [{ figure, stored: value, loss: lossOf(figure, value) }]
    }),
    added: comparable.filter((figure) => storedOf(figure) === undefined),
    missing: Object.entries(stored)
      .filter(([bench]) => ran.has(bench))
      .flatMap(([bench, values]) => Object.keys(values).map((what) => nameOf({ bench, what })))
      .filter((name) => !reported.has(name)),
  }
}

/** Returns whether a figure is at most 10 % worse than its stored value. NaN is worse. */
export const isAccepted = ({ loss }: ComparedFigure): boolean => loss <= ACCEPTED_LOSS

/** Returns the stored values with the values of all benches that have run; those of other benches stay. */
export function withFigures(figures: readonly Figure[], stored: StoredRatios): StoredRatios {
  const ran = Object.groupBy(figures.filter(isComparable), ({ bench }) => bench)
  const renewed = Object.entries(ran).map(([bench, some = []]): [string, StoredRatios[string]] => [
    bench,
    Object.fromEntries(some.map(({ what, value }) => [what, Number(value.toPrecision(4))])),
  ])
  return Object.fromEntries(
    Object.entries({ ...stored, ...Object.fromEntries(renewed) }).sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

const nameOf = ({ bench, what }: Pick<Figure, 'bench' | 'what'>): string => `${bench}: ${what}`

/** Lower is better, unless the figure has a lower limit. */
function lossOf({ value, limit }: Figure, stored: number): number {
  const worse = typeof limit === 'object' ? stored - value : value - stored
  return worse === 0 ? 0 : worse / stored
}
