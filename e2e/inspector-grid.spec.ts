/** The token view itself: text of every kind, folds, marks, sizes, the place that is kept, and many lines. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/core/codec.ts'
import { FORMAT, type Trajectory } from '#lib/core/trajectory.ts'
import { idle, open } from './application.ts'
import { expectFit, SCREENS } from './fit.ts'
import { largeTrajectory } from './large-trajectory.ts'
import { LONG_TOKEN, textTrajectory } from './text-trajectory.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-grid-'))
const texts = textTrajectory()

async function show(page: Page, name: string, file: string): Promise<void> {
  const written = path.join(folder, `${name}.json`)
  writeFileSync(written, file)
  await open(page, '/library')
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByLabel('Trajectory file').setInputFiles(written)
  await page.waitForURL(/\/t\//)
  await idle(page)
}

const grid = (page: Page) => page.getByRole('grid', { name: 'Tokens' })
const rows = (page: Page) => page.locator('.token-row:not([hidden])')
const rowOf = (page: Page, text: string) => rows(page).filter({ hasText: text }).first()
const selected = (page: Page) => page.locator('#token-selected')

async function choose(page: Page, token: number): Promise<void> {
  const address = new URL(page.url())
  address.searchParams.set('at', String(token))
  await page.goto(address.href)
  await idle(page)
  await expect(selected(page)).toHaveAttribute('data-index', String(token))
}

/** What is drawn, by token: rows in order, with the tokens that each has. */
const drawn = (page: Page) =>
  rows(page).evaluateAll((all) =>
    (all as HTMLElement[])
      .map(({ dataset, children }) => ({
        first: Number(dataset.first),
        count: Number(dataset.count),
        text: children[0]?.textContent ?? '',
        marks: children[1]?.textContent ?? '',
      }))
      .sort((a, b) => a.first - b.first),
  )

test('every token is drawn once, where it belongs, and nothing of it is hidden', async ({ page }) => {
  await show(page, 'texts', texts.file)
  const lines = await drawn(page)
  let next = 0
  for (const { first, count } of lines) {
    expect(first).toBe(next)
    next = first + count
  }
  expect(next).toBe(texts.entries.length)
  const shown = lines.map(({ text }) => text)
  for (const text of [
    '日本語の文章、中文字符 한국어。 ',
    'zero⟨U+200B⟩width⟨U+200C⟩⟨U+FEFF⟩⟨U+00AD⟩ nbsp⟨U+00A0⟩here ',
    'esc⟨U+001B⟩[31mbell⟨U+0007⟩⟨U+0000⟩⟨U+007F⟩⟨U+202E⟩bidi ',
    'split⟨E6⟩⟨97⟩⟨A5⟩日 ⟨F0 9F⟩⟨99 82⟩🙂 ⟨FF⟩⟨C3⟩ ',
    '⟨empty⟩empty ',
  ])
    expect(shown).toContain(text)
  expect(shown.some((text) => text.includes(' 👨‍👩‍👧🇩🇪👍🏽❤️ 👩⟨U+200D⟩🚀'))).toBe(true)
  // Several line ends are several marks, and the line ends after their token.
  expect(lines.filter(({ marks }) => /↵↵↵$/.test(marks)).map(({ text }) => text.trim())).toEqual(['many'])
  expect(lines.find(({ text }) => text.startsWith('a b'))?.marks).toBe(' ⇥ ⇥⇤ ⇤↵')

  // No glyph is cut off by its box, and boxes stand in the order of the tokens: nothing is turned around.
  const boxes = await page.locator('.token-row:not([hidden]) .token-box').evaluateAll((all) =>
    (all as HTMLElement[]).map((box) => ({
      text: box.textContent,
      beyond: box.scrollWidth - box.clientWidth,
      row: box.getBoundingClientRect().top,
      from: box.getBoundingClientRect().left,
      to: box.getBoundingClientRect().right,
    })),
  )
  expect(boxes.length).toBeGreaterThan(30)
  expect(boxes.filter(({ beyond }) => beyond > 1)).toEqual([])
  for (const [index, box] of boxes.entries()) {
    const before = boxes[index - 1]
    if (before?.row === box.row) expect(box.from).toBeGreaterThanOrEqual(before.to - 0.1)
  }
})

test('a token of 20,000 characters says how much is not drawn, and is read whole beside it', async ({ page }) => {
  await show(page, 'long', texts.file)
  const row = rowOf(page, '…⟨19,')
  const text = (await row.locator('.token-text').textContent()) ?? ''
  const [, kept = '', more = ''] = /^(x+)…⟨([\d,]+) more⟩$/.exec(text) ?? []
  expect(kept.length + Number(more.replace(',', ''))).toBe(20_000)
  await choose(page, texts.entries.indexOf(LONG_TOKEN))
  await expect(page.getByRole('region', { name: 'Text of the token' })).toHaveText(`"${LONG_TOKEN}"`)
})

test('parts of a character are one group, and each is told by its bytes', async ({ page }) => {
  await show(page, 'parts', texts.file)
  const part = texts.entries.findIndex((entry) => typeof entry === 'object')
  await choose(page, part + 2)
  await expect(selected(page)).toHaveAccessibleName(/^token \d+, bytes a5, id \d+, context/)
  await expect(rowOf(page, 'split').locator('.token-text')).toHaveCSS('background-image', /linear-gradient/)
})

test('think blocks and segments fold and unfold, by pointer, by key and all at once', async ({ page }) => {
  await show(page, 'folds', texts.file)
  const all = await rows(page).count()
  const folded = rows(page).filter({ hasText: '▸ think · 64 tok' })
  await page.getByTitle('Fold the think block').filter({ visible: true }).click()
  await expect(folded).toHaveAttribute('data-count', '64')
  await expect(rowOf(page, 'The answer')).toBeVisible()
  await expect(selected(page)).toBeHidden()
  await folded.click()
  await expect(folded).toHaveCount(0)
  await expect(rows(page)).toHaveCount(all)

  // The keys fold at the token that is chosen; to go to a token that is folded away opens it.
  await rowOf(page, '<think>').click({ position: { x: 10, y: 10 } })
  await expect(selected(page)).toBeVisible()
  await grid(page).focus()
  await page.keyboard.press('z')
  await expect(folded).toHaveCount(1)
  await page.keyboard.press('j')
  await expect(folded).toHaveCount(0)
  await page.keyboard.press('Z')
  await expect(rows(page)).toHaveCount(2)
  await expect(rows(page).last()).toHaveText(/▸ response · 70 tok/)
  await page.keyboard.press('Z')
  await expect(rows(page)).toHaveCount(all)
  await page.getByTitle('Fold the segment').filter({ visible: true }).first().click()
  await expect(rowOf(page, '▸ prompt · ')).toHaveAttribute('data-first', '0')
  await page.getByTitle('Unfold the segment').filter({ visible: true }).click()
  await expect(rows(page)).toHaveCount(all)
})

test('what is found, and what is chosen, is marked on the rows', async ({ page }) => {
  await show(page, 'marks', texts.file)
  await page.getByRole('textbox', { name: /Find/ }).or(page.getByRole('searchbox')).first().fill('thought 5')
  const marks = rowOf(page, 'thought 50').locator('.token-marks')
  await expect(marks).toHaveCSS('background-image', /linear-gradient/)
  await expect(rowOf(page, '日本語').locator('.token-marks')).toHaveCSS('background-image', 'none')
  await grid(page).focus()
  await page.keyboard.press('Home')
  for (let step = 0; step < 9; step++) await page.keyboard.press('Shift+ArrowRight')
  await expect(rowOf(page, '日本語').locator('.token-marks')).toHaveCSS('background-image', /linear-gradient/)
})

test('font size and marks for spaces are the reader’s; the place is kept', async ({ page }) => {
  await show(page, 'options', encode(largeTrajectory({ tokens: 20_000 })))
  await choose(page, 9000)
  const top = () =>
    grid(page).evaluate((view) => {
      const place = view.getBoundingClientRect().top
      const all = [...view.querySelectorAll<HTMLElement>('.token-row:not([hidden])')]
      const seen = all.filter((row) => row.getBoundingClientRect().bottom > place + 1)
      return Math.min(...seen.map(({ dataset }) => Number(dataset.first)))
    })
  const holds = async (token: number) =>
    expect
      .poll(async () => {
        const first = await top()
        const count = Number(await page.locator(`.token-row[data-first="${first}"]`).getAttribute('data-count'))
        return first <= token && token < first + count
      })
      .toBe(true)
  const height = () =>
    rows(page)
      .first()
      .evaluate((row) => row.clientHeight)
  const token = await top()
  await page.setViewportSize({ width: 1000, height: 900 })
  await holds(token)
  await page.setViewportSize({ width: 1440, height: 900 })
  await expect.poll(top).toBe(token)
  expect(await height()).toBe(24)
  await page.getByRole('button', { name: 'View options' }).click()
  await page.getByRole('button', { name: 'Larger' }).click()
  await expect.poll(height).toBe(26)
  await holds(token)
  await page.getByRole('checkbox', { name: 'Marks for spaces and line ends' }).uncheck()
  await expect.poll(async () => (await drawn(page)).every(({ marks }) => marks === '')).toBe(true)
  expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(5000)
})

/** Taller than any browser draws: the bar stands for all of it. */
test('700,000 lines are scrolled to the last one, and by single pixels', async ({ page }) => {
  const lines = 700_000
  const trajectory: Trajectory = {
    format: FORMAT,
    id: 'tall',
    createdAt: '2026-01-01T00:00:00.000Z',
    model: { name: 'none', tools: [] },
    vocab: { '1': 'line\n' },
    segments: [{ kind: 'prompt', ids: Array(lines).fill(1), messages: [] }],
    outcome: { kind: 'ended', reason: 'unknown' },
    provenance: { kind: 'recorded' },
  }
  await show(page, 'tall', JSON.stringify(trajectory))
  await grid(page).focus()
  await page.keyboard.press('End')
  const last = page.locator(`.token-row[data-first="${lines - 1}"]:not([hidden])`)
  await expect(last).toBeInViewport()
  const box = await last.boundingBox()
  await page.mouse.move(700, 500)
  await page.mouse.wheel(0, -30)
  await expect.poll(async () => Math.round(((await last.boundingBox())?.y ?? 0) - (box?.y ?? 0))).toBe(30)
  await page.keyboard.press('Home')
  await expect(page.locator('.token-row[data-first="0"]:not([hidden])')).toBeInViewport()
})

for (const screen of SCREENS)
  test.describe(`${screen.viewport.width} px`, () => {
    test.use(screen)

    test('every text fits, folded or not', async ({ page }) => {
      await show(page, `fit-${screen.viewport.width}`, texts.file)
      await expectFit(page)
      await grid(page).focus()
      await page.keyboard.press('Z')
      await expect(rows(page)).toHaveCount(2)
      await expectFit(page)
    })
  })
