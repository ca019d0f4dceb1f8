import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { HEAT_LEVELS, TINTS } from './palette.ts'

const [light = '', dark = ''] = readFileSync('app/globals.css', 'utf8').split('@media (prefers-color-scheme: dark)')
const colours = (css: string) =>
  Object.fromEntries(
    Array.from((css.split('@theme')[0] ?? '').matchAll(/--([\w-]+): (#[0-9a-f]{6});/g), ([, name, value]) => [
      name,
      value,
    ]),
  ) as Record<string, string>
const themes = Object.entries({ light: colours(light), dark: { ...colours(light), ...colours(dark) } })

type Colour = readonly [number, number, number]

/** Returns the linear sRGB components of a colour. */
function linear(colour: string): Colour {
  return [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }) as unknown as Colour
}

const times = (matrix: readonly Colour[], [r, g, b]: Colour): Colour =>
  matrix.map(([x, y, z]) => x * r + y * g + z * b) as unknown as Colour

/** WCAG 2 relative luminance; contrast is computed from it. */
const luminance = (colour: string) => times([[0.2126, 0.7152, 0.0722]], linear(colour))[0]
const contrast = (a: string, b: string) => {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (high + 0.05) / (low + 0.05)
}

/** Matrices of colour vision deficiency on linear sRGB, from Machado, Oliveira and Fernandes 2009, at full severity. */
const EYES: Readonly<Record<string, readonly Colour[]>> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

/** Returns the distance of two colours in OKLab; about 0.02 is just visible. */
function difference(a: string, b: string, eyes: readonly Colour[]): number {
  const [x, y] = [a, b].map((colour) => oklab(times(eyes, linear(colour)))) as [Colour, Colour]
  return Math.hypot(...x.map((value, index) => value - (y[index] as number)))
}

function oklab(colour: Colour): Colour {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    colour,
  ).map((value) => Math.cbrt(Math.max(0, value))) as unknown as Colour
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones,
  )
}

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index + 1}`)
const heats = numbered('heat', HEAT_LEVELS)
const cools = numbered('cool', HEAT_LEVELS)
const tints = numbered('tint', TINTS)

test.each(themes)('%s theme: every ink is legible on every heat and tint', (_theme, colour) => {
  for (const ink of ['ink-trained', 'ink-context'])
    for (const ground of ['ground', 'heat-unknown', 'mask-on', 'tint-found', ...heats, ...cools, ...tints])
      expect([ink, ground, contrast(colour[ink] ?? '', colour[ground] ?? '') >= 4.5]).toEqual([ink, ground, true])
})

/** Returns the colour of a partly transparent ink on a ground. */
function over(ink: string, opacity: number, ground: string): string {
  const mixed = [1, 3, 5].map((at) => {
    const [above = 0, below = 0] = [ink, ground].map((colour) => Number.parseInt(colour.slice(at, at + 2), 16))
    return Math.round(opacity * above + (1 - opacity) * below)
  })
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

test.each(themes)(
  '%s theme: the outline of the selection and the token boundaries are visible on every heat',
  (_t, colour) => {
    const [, percent] = /--token-boundary: color-mix\(in srgb, var\(--ink\) (\d+)%, transparent\)/.exec(light) ?? []
    for (const ground of ['ground', 'heat-unknown', 'mask-on', ...heats, ...cools, ...tints]) {
      const under = colour[ground] ?? ''
      expect(['selected', ground, contrast(colour.selected ?? '', under) >= 3]).toEqual(['selected', ground, true])
      const boundary = over(colour.ink ?? '', Number(percent) / 100, under)
      expect(['boundary', ground, contrast(boundary, under) >= 3]).toEqual(['boundary', ground, true])
    }
  },
)

test.each(themes)('%s theme: heat and cool levels change lightness in one direction', (theme, colour) => {
  for (const ramp of [heats, cools]) {
    const lightness = ['ground', ...ramp].map((name) => luminance(colour[name] ?? ''))
    expect(lightness).toEqual([...lightness].sort((a, b) => (theme === 'light' ? b - a : a - b)))
  }
})

test.each(
  themes.flatMap(([theme, colour]) =>
    Object.entries(EYES).map(([eyes, matrix]) => [theme, eyes, colour, matrix] as const),
  ),
)(
  '%s theme, %s vision: adjacent levels differ visibly, and so do the two directions of a scale',
  (_theme, _eyes, colour, matrix) => {
    const apart = (a: string, b: string, least: number) =>
      expect([a, b, difference(colour[a] ?? '', colour[b] ?? '', matrix) >= least]).toEqual([a, b, true])
    for (const ramp of [heats, cools])
      for (const [index, name] of ramp.entries()) apart(index === 0 ? 'ground' : (ramp[index - 1] ?? ''), name, 0.023)
    for (const [index, name] of heats.entries()) apart(name, cools[index] ?? '', 0.03)
    for (const name of ['ground', ...heats, ...cools]) apart('heat-unknown', name, 0.023)
  },
)

test.each(themes)('%s theme: text is legible on every ground, and marks contrast with it', (_theme, colour) => {
  // The accent is the ground of selected and pointed rows in lists.
  for (const ink of ['ink', 'dim', 'faint', 'think', 'tool', 'bad'])
    expect([ink, contrast(colour[ink] ?? '', colour['accent-soft'] ?? '') >= 4.5]).toEqual([ink, true])
  for (const ground of ['ground', 'panel', 'raised'])
    for (const ink of ['ink', 'dim', 'faint', 'accent', 'bad', 'warn', 'good', 'think', 'tool'])
      expect([ink, ground, contrast(colour[ink] ?? '', colour[ground] ?? '') >= 4.5]).toEqual([ink, ground, true])
  for (const ink of ['ink', 'dim', 'accent', 'think', 'tool'])
    expect([ink, contrast(colour[ink] ?? '', colour['accent-soft'] ?? '') >= 4.5]).toEqual([ink, true])
  for (const mark of [
    'trained',
    'tool-rule',
    'selected',
    'line-strong',
    'group-edge',
    'mark-hit',
    'mark-current',
    'mark-linked',
    'mark-cut',
    'mark-note',
  ])
    expect([mark, contrast(colour[mark] ?? '', colour.ground ?? '') >= 3]).toEqual([mark, true])
})

test.each(themes)('%s theme: a note differs from every other mark for every kind of vision', (_theme, colour) => {
  for (const [eyes, matrix] of Object.entries(EYES))
    for (const mark of ['bad', 'mark-hit', 'mark-linked', 'mark-cut', 'trained'])
      expect([mark, eyes, difference(colour['mark-note'] ?? '', colour[mark] ?? '', matrix) >= 0.06]).toEqual([
        mark,
        eyes,
        true,
      ])
  for (const ground of ['ground', 'panel', 'raised'])
    expect([ground, contrast(colour['mark-note'] ?? '', colour[ground] ?? '') >= 4.5]).toEqual([ground, true])
})
