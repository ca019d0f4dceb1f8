/** Pages without content: accessible, free of errors, within both windows and their size budget. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import { builtFile, open, postImport, TOKEN, whenQuiet } from '../support/application.ts'
import { expectAccessible, expectFit, expectFitEverywhere, violations, watch } from '../support/fit.ts'
import { groupTrajectories } from '../support/group-trajectories.ts'
import { CORE } from '../support/tags.ts'

test('the launch token is accepted when pasted with its address, and the playground and its setup fit', {
  tag: CORE,
}, async ({ page }) => {
  const wrongs = watch(page)
  await page.goto('/')
  await expect(page.getByRole('heading', { name: 'The launch token is missing' })).toBeVisible()
  await expectFitEverywhere(page)
  const field = page.getByRole('textbox', { name: 'Token', exact: true })
  await field.fill('wrong-token-of-enough-length')
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByText('this is not the token of the running server')).toBeVisible()
  expect(wrongs.splice(0).filter((wrong) => !wrong.includes('401'))).toEqual([])
  await field.fill(`http://127.0.0.1:3000/?token=${TOKEN}`)
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByText('Run an agent, see every token')).toBeVisible()
  await expectFitEverywhere(page)
  // The window is narrow from here on.
  await page.getByRole('button', { name: 'Setup' }).click()
  await page.getByText('More settings').click()
  await expectFitEverywhere(page)
  await page.getByRole('button', { name: 'Add a mock tool' }).click()
  await page.getByLabel('Arguments, JSON Schema').fill('{"type": "strin"}')
  await expectFitEverywhere(page, undefined, 'dialog')
  expect(wrongs).toEqual([])
})

test('a file of ids only, its tokenizer dialog and the export formats fit', async ({ page }) => {
  const wrongs = watch(page)
  await open(page, '/open')
  const untitled = await watchTitle(page)
  await page.getByRole('button', { name: 'Open' }).click()
  const lines = '{"token_ids": [1, 308, 207], "loss_mask": [0, 1, 1]}\n{"token_ids": [1]}'
  await page
    .getByLabel('Trajectory file')
    .setInputFiles({ name: 'step.jsonl', mimeType: 'application/json', buffer: Buffer.from(lines) })
  await page.waitForURL(/\/t\//)
  await page.locator('[data-idle="true"]').waitFor({ state: 'attached' })
  await expect(page).toHaveTitle('Trajectory · Rollscope')
  expect(await untitled()).toBe(0)
  await expectFitEverywhere(page)
  const choose = page.getByRole('button', { name: 'Choose a tokenizer…' })
  await choose.click()
  await expect(page.getByRole('dialog').getByLabel('Tokenizer', { exact: true })).toBeFocused()
  await expectFitEverywhere(page, undefined, 'dialog')
  await page.keyboard.press('Escape')
  await expect(choose).toBeFocused()
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByRole('dialog').getByText('lost').last().click()
  await expectFitEverywhere(page, undefined, 'dialog')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: 'Export' })).toBeFocused()
  expect(wrongs).toEqual([])
})

test('a comparison, its dialogs, and the page of a side that cannot be made fit', async ({ page }) => {
  const wrongs = watch(page)
  await open(page, '/compare?left=example:retokenization-drift&drift=1')
  await page.locator('[data-compare="done"]').waitFor()
  await expect(page.getByRole('main')).toBeVisible()
  await expectFitEverywhere(page, async (isNarrow) => {
    if (!isNarrow) return
    await expectFit(page)
    const hidden = await page
      .getByRole('region', { name: 'Summary' })
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
    expect(hidden).toBe(0)
    await page.getByRole('button', { name: 'Drift', exact: true }).click()
    await expectFit(page)
    await page.getByRole('button', { name: 'Details', exact: true }).click()
  })
  await page.getByRole('button', { name: 'Right side: choose a trajectory' }).click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await expectFitEverywhere(page, undefined, 'dialog')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^Right side: tokenizer/ }).click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await expectFitEverywhere(page, undefined, 'dialog')
  await page.goto('/compare?left=example:nothing')
  await expect(page.getByText('There is no example “nothing”.')).toBeVisible()
  expect(wrongs.splice(0)).toHaveLength(1)
  const slow = Promise.withResolvers<void>()
  await page.route('**/examples/two-steps.json', async (route) => {
    await slow.promise
    await route.continue()
  })
  await page.goto('/compare?left=example:two-steps')
  await expect(page.getByText('Reading the trajectories and their tokenizers…')).toBeVisible()
  slow.resolve()
  await page.locator('[data-compare="done"]').waitFor()
  await page.unroute('**/examples/two-steps.json')
  await page.goto('/compare?left=example:two-steps&right=example:two-steps~read')
  await expect(page.getByRole('alert').first()).toBeVisible()
  await expectFitEverywhere(page)
  expect(wrongs).toEqual([])
})

/** Returns words in cells of tables that a line end breaks. Names in code may break after their separators. */
const brokenWords = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('article :is(td, th)')].flatMap((cell) => {
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
      const broken: string[] = []
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        if (text.parentElement?.closest('code')) continue
        for (const { 0: word, index } of (text.textContent ?? '').matchAll(/[\p{L}\p{N}]+/gu)) {
          const range = document.createRange()
          range.setStart(text, index)
          range.setEnd(text, index + word.length)
          if (range.getClientRects().length > 1) broken.push(word)
        }
      }
      return broken
    }),
  )

test('a page that a key opens from the header has the focus at its content, from which Tab leads to its first control', async ({
  page,
}) => {
  await open(page, '/')
  // The first key loads the code that follows the focus.
  await page.keyboard.press('Tab')
  const pages = page.getByRole('navigation', { name: 'Pages' })
  for (const [name, path] of [
    ['Library', '/library'],
    ['Servers', '/servers'],
    ['Playground', '/'],
    ['Compare', '/compare'],
    ['Templates', '/templates'],
  ] as const) {
    await pages.getByRole('link', { name, exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname === path)
    // While a page is loaded, the place before its content has it.
    await expect(page.locator('main:focus, #content:focus')).toBeAttached()
  }
  await page.getByRole('main').waitFor()
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true)
})

test('Help opens the documentation of the page, which fits and links to other pages', async ({ page }) => {
  const wrongs = watch(page)
  await open(page, '/compare')
  await expect(page.getByRole('heading', { name: 'See what retokenizing changes' })).toBeVisible()
  const opening = page.waitForEvent('popup')
  await page.getByRole('link', { name: 'Help' }).click()
  const help = await opening
  await expect(help.getByRole('heading', { level: 2 })).toBeVisible()
  expect(new URL(help.url()).pathname).toBe('/docs/compare')
  await expectFitEverywhere(help)
  await help.goto('/docs')
  await help.getByRole('main').getByRole('link', { name: 'Find', exact: true }).first().click()
  await expect(help.getByRole('heading', { level: 2, name: 'Find' })).toBeVisible()
  await help.goto('/docs/chat-templates')
  await expectFitEverywhere(help)
  // The window is narrow now. This page has the widest table.
  expect(await brokenWords(help)).toEqual([])
  await help.emulateMedia({ media: 'print' })
  expect(await help.evaluate(() => document.documentElement.scrollHeight / window.innerHeight)).toBeGreaterThan(3)
  await help.emulateMedia({ media: 'screen' })
  await help.goto('/docs/nothing')
  await expect(help.getByRole('heading', { level: 2, name: 'Page not found' })).toBeVisible()
  expect(wrongs).toEqual([])
})

test('the page for an unknown address has the header, fits, and leads on, and the accessibility check finds a violation in both colour schemes', async ({
  page,
}) => {
  await open(page, '/nowhere')
  await expectFitEverywhere(page)
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Library' }).click()
  await page.waitForURL('**/library')
  await page.goBack()
  await page.getByRole('link', { name: 'Go to the playground' }).click()
  await expect(page.getByText('Run an agent, see every token')).toBeVisible()
  await page.goto('/nowhere')
  await page.evaluate(() => {
    const text = document.createElement('p')
    text.id = 'faint'
    text.textContent = 'Read me'
    document.body.append(text, document.createElement('input'))
  })
  expect(await violations(page)).toContain('label: <input>')
  for (const [colorScheme, colour] of [
    ['light', '#eee'],
    ['dark', '#222'],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    await page.locator('#faint').evaluate((text, colour) => {
      text.style.color = colour
    }, colour)
    await expect(expectAccessible(page, '#faint')).rejects.toThrow('color-contrast')
  }
})

test('At a zoom of 400 %, all pages are in the header, and the tokens of a trajectory and of a comparison can be scrolled into view', async ({
  page,
}) => {
  await page.setViewportSize({ width: 320, height: 256 })
  for (const [path, name] of [
    ['/example/two-steps', 'Tokens'],
    ['/compare?left=example:two-steps', 'Tokens of both sides'],
  ] as const) {
    await open(page, path)
    const grid = page.getByRole('grid', { name, exact: true })
    await expect(grid).toHaveAttribute('data-idle', 'true')
    for (const link of await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').all())
      await expect(link).toBeInViewport({ ratio: 1 })
    await grid.focus()
    await expect(grid).toBeInViewport()
    expect(await grid.evaluate(({ clientHeight }) => clientHeight)).toBeGreaterThan(100)
  }
})

/**
 * Collects, from the next page on, the parts that move by more than 4 pixels after they were drawn. Those in the header are left out, and
 * those in the middle of the playground, which is centred: on a busy machine they are drawn before the end of the page is read.
 */
async function watchMoves(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.addInitScript(() => {
    const moves: string[] = []
    Object.assign(window, { moves })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        for (const { node, previousRect, currentRect } of (entry as LayoutShift).sources) {
          const element = node instanceof Element ? node : node?.parentElement
          const distance = currentRect.y - previousRect.y
          if (element?.closest('header, [aria-label="Tokens"]') || Math.abs(distance) <= 4) continue
          moves.push(`${distance}px: ${element?.outerHTML.slice(0, 140)}`)
        }
    }).observe({ type: 'layout-shift', buffered: true })
  })
  return () => page.evaluate(() => (window as unknown as { readonly moves: readonly string[] }).moves)
}

/** The part of the browser’s interface that TypeScript lacks. */
interface LayoutShift extends PerformanceEntry {
  readonly sources: readonly {
    readonly node: Node | null
    readonly previousRect: DOMRect
    readonly currentRect: DOMRect
  }[]
}

test('The setup of the playground, the lists of the compare page and of the servers, and the tool calls of a trajectory do not move while their pages load', async ({
  page,
}) => {
  const moves = await watchMoves(page)
  const quiet = whenQuiet(page)
  for (const path of ['/', '/compare', '/servers', '/example/two-steps?at=200']) {
    await open(page, path)
    await quiet()
    expect([path, await moves()]).toEqual([path, []])
  }
})

test('The tree of a group does not move beside both panes while its samples load', async ({ page, request }) => {
  for (const trajectory of groupTrajectories('still')) await postImport(request, encode(trajectory))
  const moves = await watchMoves(page)
  for (const width of [1024, 1280]) {
    await page.setViewportSize({ width, height: 768 })
    await open(page, '/group/still')
    await expect(page.getByRole('grid', { name: 'Tree of the samples' })).toHaveAttribute('data-idle', 'true')
    await expect(page.getByRole('button', { name: 'Advantage' })).toBeVisible()
    expect((await moves()).filter((move) => move.includes('token-viewport'))).toEqual([])
  }
})

/** Budgets in kilobytes. `sizeBudget` is for scripts that the page names, `lateBudget` for those that it loads later, such as an editor. */
const { sizeBudget, lateBudget } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly sizeBudget: Readonly<Record<string, number>>
  readonly lateBudget: Readonly<Record<string, number>>
}

test('the first load of every page stays under its budget of compressed script, which is sent with Brotli', async ({
  page,
}) => {
  const kilobytesOf = new Map<string, number>()
  const sizeOf = (script: string): number => {
    const size =
      kilobytesOf.get(script) ?? gzipSync(readFileSync(builtFile(script.replace(/^\/_next\//, '')))).length / 1000
    kilobytesOf.set(script, size)
    return size
  }
  const namedScripts = new Set<string>()
  const quiet = whenQuiet(page)
  const exceeded: string[] = []
  for (const [path, kilobytes] of Object.entries(sizeBudget)) {
    const address = path.replace(/\[\w+\]/, 'nothing')
    await open(page, address)
    await quiet()
    // A script that is preloaded and then run may be listed twice.
    const scripts = await page.evaluate(() => {
      const paths = performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)
      return [...new Set(paths)].filter((path) => path.endsWith('.js'))
    })
    const document = await (await page.request.get(address)).text()
    const named = scripts.filter((script) => document.includes(script))
    const total = (some: readonly string[]) => some.reduce((sum, script) => sum + sizeOf(script), 0)
    console.log(
      `first load of ${path}: ${total(named).toFixed(0)} kB of script, gzip; ${total(scripts).toFixed(0)} with what follows`,
    )
    expect(named.length, path).toBeGreaterThan(2)
    for (const script of named) namedScripts.add(script)
    const all = kilobytes + (lateBudget[path] ?? 0)
    if (total(named) >= kilobytes) exceeded.push(`${path}: ${total(named).toFixed(1)} kB, budget ${kilobytes}`)
    if (total(scripts) >= all)
      exceeded.push(`${path} with what follows: ${total(scripts).toFixed(1)} kB, budget ${all}`)
    if (path === '/compare') {
      await expect(page.getByRole('heading', { name: 'See what retokenizing changes' })).toBeVisible()
      await expectFitEverywhere(page)
    }
  }
  expect(exceeded).toEqual([])
  for (const script of namedScripts) {
    const answer = await page.request.get(script)
    expect(answer.headers(), script).toMatchObject({
      'content-encoding': 'br',
      'content-type': expect.stringContaining('javascript'),
      'cache-control': expect.stringContaining('immutable'),
    })
    expect((await answer.body()).equals(readFileSync(builtFile(script.replace(/^\/_next\//, '')))), script).toBe(true)
  }
})

/** Counts how often the document has no title from now on; the returned function returns the count. */
async function watchTitle(page: Page): Promise<() => Promise<number>> {
  const counter = await page.evaluateHandle(() => {
    const seen = { untitled: 0 }
    new MutationObserver(() => {
      if (document.title === '') seen.untitled++
    }).observe(document.documentElement, { childList: true, subtree: true })
    return seen
  })
  return () => counter.evaluate(({ untitled }) => untitled)
}
