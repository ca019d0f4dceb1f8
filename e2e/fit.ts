/** What every page is held to, in every window and both colour schemes. */
import { expect, type Locator, type Page } from '@playwright/test'
import axe from 'axe-core'

export const WINDOWS = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
] as const

/** Each window and each colour scheme once: what a colour scheme breaks, it breaks in both windows. */
export const SCREENS = [
  { viewport: WINDOWS[0], colorScheme: 'light' },
  { viewport: WINDOWS[1], colorScheme: 'dark' },
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

/** The page is accessible, or what is `within` it; the page is no wider than its window; in a narrow one fingers hit what can be pressed. */
export async function expectFit(page: Page, within = 'html'): Promise<void> {
  await expectAccessible(page, within)
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  )
  expect(overflow).toBe(0)
  if ((page.viewportSize()?.width ?? 0) <= TOUCH_WIDTH) expect(await smallTargets(page, within)).toEqual([])
}

/** Windows up to this width have targets for fingers: app/globals.css. */
const TOUCH_WIDTH = 640

/** What can be pressed and is smaller than 24 pixels in a direction. Links within a sentence are as high as its line. */
async function smallTargets(page: Page, within: string): Promise<string[]> {
  return page
    .locator(within)
    .first()
    .evaluate((root) => {
      const pressed = 'button, a[href], input:not([type=hidden]), select, textarea, summary, [role=tab], [role=slider]'
      const isInSentence = (element: Element) =>
        element instanceof HTMLAnchorElement &&
        getComputedStyle(element).display === 'inline' &&
        element.parentElement?.textContent?.trim() !== element.textContent?.trim()
      return (
        [...root.querySelectorAll(pressed)]
          .filter((element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
          .filter((element) => !element.closest('[inert]') && !isInSentence(element))
          .map((element) => ({ element, box: (element.closest('label') ?? element).getBoundingClientRect() }))
          // What is one pixel large is for screen readers.
          .filter(({ box }) => box.width > 1 && box.height > 1 && (box.width < 23.5 || box.height < 23.5))
          .map(
            ({ element, box }) =>
              `${Math.round(box.width)} × ${Math.round(box.height)}: ${element.outerHTML.slice(0, 140)}`,
          )
      )
    })
}

/**
 * What the page shows fits each window, the wide one light and the narrow one dark. `shown`: what must be seen there first;
 * `within`: what is looked at, where the rest of the page was looked at before.
 */
export async function expectFitEverywhere(
  page: Page,
  shown?: (isNarrow: boolean) => Promise<unknown>,
  within = 'html',
): Promise<void> {
  for (const { viewport, colorScheme } of SCREENS) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    await shown?.(viewport.width < 1024)
    await expectFit(page, within)
  }
}

/** What stands within one element is accessible, contrast included. */
export async function expectAccessible(page: Page, within = 'html'): Promise<void> {
  expect(await violations(page, within)).toEqual([])
}

/** Rules that are broken, and where. */
export async function violations(page: Page, within = 'html'): Promise<string[]> {
  // axe would have to be brought into each frame.
  expect(page.frames()).toHaveLength(1)
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  return page.evaluate(async (within) => {
    const { axe: checker } = window as unknown as { readonly axe: typeof axe }
    const { violations } = await checker.run(within, { resultTypes: ['violations'] })
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
  }, within)
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
