/** What every page is held to, in every window and both colour schemes. */
import { AxeBuilder } from '@axe-core/playwright'
import { expect, type Locator, type Page } from '@playwright/test'

export const WINDOWS = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
] as const

/** What a page was seen to do wrong. */
export function watch(page: Page): string[] {
  const wrongs: string[] = []
  page.on('pageerror', (error) => wrongs.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') wrongs.push(`console: ${message.text()}`)
  })
  return wrongs
}

export async function expectFit(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)).toEqual([])
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  )
  expect(overflow).toBe(0)
}

/** Nothing in the element stands beyond the window, unless it can be scrolled to where it stands. */
export async function expectWithin(element: Locator): Promise<void> {
  const beyond = await element.evaluate((root) => {
    const scrolls = (part: Element): boolean =>
      part !== root &&
      (getComputedStyle(part).overflowX !== 'visible' || (part.parentElement !== null && scrolls(part.parentElement)))
    return [...root.querySelectorAll('*')]
      .filter((part) => part.getBoundingClientRect().right > window.innerWidth + 1)
      .filter((part) => !(part.parentElement && scrolls(part.parentElement)))
      .map((part) => part.outerHTML.slice(0, 120))
  })
  expect(beyond).toEqual([])
}
