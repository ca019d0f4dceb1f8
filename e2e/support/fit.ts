/** Checks of every page in both windows and colour schemes: accessibility, width and size of click targets. */
import { expect, type Locator, type Page } from '@playwright/test'
import axe from 'axe-core'

/** Sizes of the wide and the narrow window, in CSS pixels. */
export const WINDOWS = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
] as const

/** Both windows, each with one colour scheme: an error of a colour scheme occurs in both windows. */
export const SCREENS = [
  { viewport: WINDOWS[0], colorScheme: 'light' },
  { viewport: WINDOWS[1], colorScheme: 'dark' },
] as const

/** Size of a window of 1440 × 900 pixels at a zoom of 200 %. */
export const ZOOMED = { width: 720, height: 450 } as const

/** Collects the page's uncaught errors and console errors in the returned list. */
export function watch(page: Page): string[] {
  const wrongs: string[] = []
  page.on('pageerror', (error) => wrongs.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') wrongs.push(`console: ${message.text()} ${message.location().url}`.trim())
  })
  return wrongs
}

/**
 * Expects that the page, or the part `within` it, is accessible, fits the window, and in a narrow one has touch targets. Only a page of the
 * documentation may be longer than the window: in the others, parts scroll.
 */
export async function expectFit(page: Page, within = 'html'): Promise<void> {
  await expectAccessible(page, within)
  const overflow = await page.evaluate(() => {
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.documentElement
    return [scrollWidth - clientWidth, location.pathname.startsWith('/docs') ? 0 : scrollHeight - clientHeight]
  })
  expect(overflow).toEqual([0, 0])
  if ((page.viewportSize()?.width ?? 0) <= TOUCH_WIDTH) expect(await smallTargets(page, within)).toEqual([])
}

/** Windows up to this width in CSS pixels have touch targets; app/globals.css has the same bound. */
const TOUCH_WIDTH = 640

/** Returns controls smaller than 24 pixels in a direction. Links within a sentence are exempt: they are as high as its line. */
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
          // Elements of one pixel are for screen readers only.
          .filter(({ box }) => box.width > 1 && box.height > 1 && (box.width < 23.5 || box.height < 23.5))
          .map(
            ({ element, box }) =>
              `${Math.round(box.width)} × ${Math.round(box.height)}: ${element.outerHTML.slice(0, 140)}`,
          )
      )
    })
}

/**
 * Checks the page in the wide light and the narrow dark window. `shown` waits for content in each window before the check;
 * `within` limits the check to a part, if the rest was checked before.
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

/** Expects no accessibility violation in the element, contrast included. */
export async function expectAccessible(page: Page, within = 'html'): Promise<void> {
  expect(await violations(page, within)).toEqual([])
}

/** Returns the violated accessibility rules with the elements that violate them. */
export async function violations(page: Page, within = 'html'): Promise<string[]> {
  // axe is injected into the main frame only.
  expect(page.frames()).toHaveLength(1)
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  return page.evaluate(async (within) => {
    const { axe: checker } = window as unknown as { readonly axe: typeof axe }
    const { violations } = await checker.run(within, { resultTypes: ['violations'] })
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
  }, within)
}

/** Expects that no part of the element is beyond the right edge of the window, unless it can be scrolled into view. */
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
