import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('every breakpoint of the styles is in pixels, as those that scripts ask for', () => {
  const found = readFileSync('app/globals.css', 'utf8').matchAll(/--breakpoint-(\w+): (\S+);/g)
  const breakpoints = new Map(Array.from(found, ([, name, width]) => [name, width]))
  expect([...breakpoints.keys()].sort()).toEqual(['2xl', 'lg', 'md', 'nav', 'sm', 'xl'])
  for (const width of breakpoints.values()) expect(width).toMatch(/^\d+px$/)
})
