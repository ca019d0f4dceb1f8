/** The library: search, sort, label, delete, restore and export; by mouse, by keyboard and over HTTP. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type APIRequestContext, expect, type Page, test } from '@playwright/test'
import { FORMAT, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { AUTHORIZED, CHANGING, open, postImport, reload } from '../support/application.ts'
import { expectFit, expectFitEverywhere, SCREENS, watch } from '../support/fit.ts'
import { startSlowServer } from '../support/slow-server.ts'
import { CORE } from '../support/tags.ts'

const NAMES = ['two-steps', 'parallel-calls', 'tool-error'] as const

type Example = (typeof NAMES)[number]

/** Stores examples under new ids, with a tag that no other trajectory has. */
async function store(request: APIRequestContext, names: readonly Example[] = NAMES) {
  const tag = `journey-${randomUUID().slice(0, 8)}`
  const keys: string[] = []
  for (const [index, name] of names.entries()) {
    const example = JSON.parse(readFileSync(`public/examples/${name}.json`, 'utf8'))
    keys.push(await imported(request, { ...example, id: `${tag}-${index}`, tags: [tag] }))
  }
  return { tag, keys }
}

const imported = async (request: APIRequestContext, trajectory: object): Promise<string> =>
  (await postImport(request, trajectory))[0]

const stored = async (request: APIRequestContext, key: string) =>
  (await request.get(`/api/trajectories/${key}`, { headers: AUTHORIZED })).json()

const settled = (page: Page) => page.locator('[data-library="idle"]').waitFor()
const saved = (page: Page) => page.locator('[data-labels="saved"]').waitFor()
const titles = (page: Page) => page.locator('tr[data-key] a[data-title]')

async function openLibrary(page: Page, query = ''): Promise<void> {
  await open(page, `/library${query}`)
  await settled(page)
}

/** Exports with the open dialog and returns the name and text of the file. */
async function exportedAs(page: Page, format: string): Promise<{ readonly name: string; readonly text: string }> {
  const download = page.waitForEvent('download')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: `Export as ${format}` })
    .first()
    .click()
  const file = await download
  await expect(page.getByRole('dialog')).toHaveCount(0)
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
}

test('Library finds, sorts, labels, deletes, restores and exports trajectories, and fits each window', async ({
  page,
  request,
}) => {
  const wrongs = watch(page)
  const { tag, keys } = await store(request)
  const [first = '', second = '', third = ''] = keys
  const { segments: _, ...rest } = await stored(request, first)
  const outcome = { kind: 'failed', code: 'UNREACHABLE', message: 'No answer.' }
  const empty = { ...rest, segments: [], outcome, id: `${tag}-empty`, title: 'Failed at once' }
  const without = await imported(request, empty)
  const row = (key: string) => page.locator(`tr[data-key="${key}"]`)
  const dialog = page.getByRole('dialog')

  await test.step('A search narrows the list, and a column sorts it', async () => {
    await openLibrary(page)
    await page.getByRole('searchbox', { name: 'Search' }).fill(tag)
    await expect(titles(page)).toHaveCount(4)
    await expect(page.locator('[data-range]')).toHaveText('1–4 of 4')
    await page.getByRole('button', { name: 'Title' }).click()
    await page.waitForURL(/sort=title/)
    await settled(page)
    const sorted = await titles(page).allTextContents()
    expect(sorted).toEqual(sorted.toSorted())
    await expect(page.getByRole('columnheader', { name: 'Title' })).toHaveAttribute('aria-sort', 'ascending')
  })

  await test.step('Labels of a row are stored and remain after a reload', async () => {
    await row(second).locator('td').nth(3).click()
    await page.getByLabel('Title').fill('Renamed here')
    await page.getByLabel('Title').press('Enter')
    await saved(page)
    await page.getByLabel('Tags').fill('to keep')
    await page.getByLabel('Tags').press('Enter')
    await expect(page.getByRole('button', { name: 'Remove the tag to keep' })).toBeVisible()
    await page.getByLabel('Reward').fill('0.5')
    await page.getByLabel('Note').fill('two\nlines')
    await page.getByLabel('Title').focus()
    await expect(row(second)).toContainText('0.5')
    await expect
      .poll(async () => await stored(request, second))
      .toMatchObject({ title: 'Renamed here', tags: [tag, 'to keep'], reward: 0.5, note: 'two\nlines' })
    await reload(page)
    await expect(page.getByLabel('Title')).toHaveValue('Renamed here')
    await expect(titles(page).filter({ hasText: 'Renamed here' })).toHaveCount(1)
  })

  await test.step('The list and the panel fit', async () => {
    await page.getByLabel('Select Renamed here').check()
    await expectFitEverywhere(page)
    // The texts for screen readers in the list are below the window. The list scrolls them, the document does not.
    await page.setViewportSize({ width: 390, height: 420 })
    expect(await page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight)).toBe(0)
    await page.setViewportSize(SCREENS[1].viewport)
    // A narrow window shows the panel in place of the list.
    await row(second).locator('button').click()
    await expect(page.getByLabel('Note')).toBeVisible()
    await expectFit(page)
    await page.getByRole('button', { name: 'Back to the list' }).click()
    await expect(row(second)).toBeVisible()
    await page.setViewportSize(SCREENS[0].viewport)
  })

  await test.step('Deleted rows are restored by Undo, and keys continue from the row that was clicked', async () => {
    await row(first).locator('input').check()
    await page.getByRole('button', { name: 'Delete' }).first().click()
    await expect(titles(page)).toHaveCount(2)
    await expect(page.getByText('2 deleted.')).toBeVisible()
    expect((await stored(request, first)).code).toBe('DELETED')
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect(titles(page)).toHaveCount(4)
    await expect(titles(page).and(page.locator(':focus'))).toHaveCount(1)
    await page.locator('tr[data-key] td:nth-child(5)').first().click()
    await page.keyboard.press('ArrowDown')
    await expect(titles(page).nth(1)).toBeFocused()
    await expect(page.locator('tr[data-key]').nth(1)).toHaveAttribute('data-shown', 'true')
  })

  await test.step('An export of two rows is imported as the same two, in the order of their selection', async () => {
    await row(third).locator('input').check()
    await row(second).locator('input').check()
    await page.getByRole('button', { name: 'Export…' }).click()
    const { name, text } = await exportedAs(page, 'Rollscope')
    expect(name).toBe('trajectories-2.jsonl')
    // An equal trajectory is stored only once, so the same keys mean that the content is the same.
    expect(await postImport(request, text)).toEqual([third, second])
  })

  await test.step('A group of samples is one row, which is found by the model’s text, unfolded, and exported as a whole', async () => {
    const prompt = `What is 2 + 2? ${tag}`
    const started = await request.post('/api/groups', {
      headers: CHANGING,
      data: { prompt, samples: 3, sampling: { max_new_tokens: 8, temperature: 0 } },
    })
    const { groupId, samples } = await started.json()
    await request.get(`/api/groups/${groupId}/events`, { headers: AUTHORIZED })
    const members: readonly string[] = samples.map(({ trajectoryId }: { trajectoryId: string }) => trajectoryId)
    for (const key of members)
      await request.patch(`/api/trajectories/${key}`, { headers: CHANGING, data: { reward: 1, tags: [tag] } })
    const { segments, vocab } = await stored(request, members[0] ?? '')
    const response = segments.find(({ kind }: { kind: string }) => kind === 'response')
    const written = response.ids.map((id: number) => vocab[id]).join('')
    // Added tokens such as <think> are not part of the searched text.
    const [word = ''] = /\p{L}{2,}|\p{N}+/u.exec(written.replaceAll(/<[^>]*>/g, ' ')) ?? []
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await page.getByRole('searchbox', { name: 'Search' }).fill(`${tag} reward:1 tokens>1 ${word}`)
    await expect(page.locator('[data-range]')).toHaveText('1–1 of 1')
    const group = page.getByRole('button', { name: prompt })
    await expect(group).toHaveAttribute('aria-expanded', 'false')
    await expect(page.locator(`tr[data-group="${groupId}"]`)).toContainText('3 samples')
    await expect(page.getByText('no gradient')).toBeVisible()
    await group.focus()
    await page.keyboard.press('ArrowRight')
    await expect(titles(page)).toHaveCount(3)
    await expect(group).toHaveAttribute('aria-expanded', 'true')
    await expectFitEverywhere(page, undefined, 'main')
    await page.setViewportSize(SCREENS[0].viewport)
    await page.getByLabel(/^Select all 3 samples of/).check()
    // The panel has another Export button, for the shown group.
    await page.getByRole('region', { name: 'Trajectories' }).getByRole('button', { name: 'Export…' }).click()
    expect((await exportedAs(page, 'slime')).name).toBe('trajectories-3.slime.jsonl')
    await page.getByRole('button', { name: 'Trainer’s cut' }).click()
    await page.getByLabel(/Trainer’s maximum length/).fill('10')
    await expect(page.getByText('3 of 3 trajectories are longer than 10 tokens.')).toBeVisible()
    await page.getByLabel(/Trainer’s maximum length/).fill('')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await page.getByRole('searchbox', { name: 'Search' }).fill(tag)
    for (const key of members) await request.delete(`/api/trajectories/${key}`, { headers: CHANGING, data: {} })
    await reload(page)
    await expect(titles(page)).toHaveCount(4)
  })

  await test.step('An export for a trainer leaves out the run without tokens, and the dialog names it', async () => {
    await page.getByLabel('Select all on this page').check()
    await page.getByRole('button', { name: 'Export…' }).click()
    await expect(dialog).toContainText('1 of 4 runs has no tokens.')
    await dialog.getByText('Which, and why').click()
    await expect(dialog.getByRole('link', { name: 'Failed at once' })).toBeVisible()
    await expect(dialog).toContainText('the run failed before its first token with UNREACHABLE: No answer.')
    await expect(dialog.getByText(/things of these trajectories are lost/).first()).toBeVisible()
    const { name, text } = await exportedAs(page, 'slime')
    expect(name).toBe('trajectories-3.slime.jsonl')
    const lines = text.trimEnd().split('\n')
    expect(lines.map((line) => typeof JSON.parse(line).response_length)).toEqual(['number', 'number', 'number'])
  })

  await test.step('An export of only a run without tokens is offered in formats of messages', async () => {
    await page.getByRole('button', { name: 'Clear', exact: true }).press('Enter')
    await expect(titles(page).and(page.locator(':focus'))).toHaveCount(1)
    await row(without).locator('input').check()
    await page.getByRole('button', { name: 'Export…' }).click()
    await expect(dialog).toContainText('The selected run has no tokens.')
    await expect(dialog.getByRole('button', { name: 'Export as slime' })).toBeDisabled()
    expect((await exportedAs(page, 'Rollscope')).name).toBe('trajectories-1.jsonl')
  })

  await test.step('The page of a run without tokens says so in a narrow window, where every page is in the header', async () => {
    await page.setViewportSize(SCREENS[1].viewport)
    await open(page, `/t/${without}`)
    await expect(page.getByText('There are no tokens in this trajectory.')).toBeInViewport()
    await expect(page.getByRole('navigation', { name: 'Pages' }).getByText('Help')).toBeInViewport({ ratio: 1 })
  })
  expect(wrongs).toEqual([])
})

test('The keyboard alone searches, edits, deletes and opens a row, whose page changes and restores it', {
  tag: CORE,
}, async ({ page, request }) => {
  const { tag, keys } = await store(request)
  const [first, key = ''] = keys
  const focusedKey = () =>
    page.evaluate(() => document.activeElement?.closest<HTMLElement>('tr[data-key]')?.dataset.key)

  await test.step('A row is found, edited and deleted', async () => {
    await openLibrary(page)
    await page.keyboard.press('/')
    await expect(page.getByRole('searchbox')).toBeFocused()
    await page.keyboard.insertText(tag)
    await expect(titles(page)).toHaveCount(3)
    for (let tabs = 0; tabs < 20 && (await focusedKey()) === undefined; tabs++) await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('End')
    expect(await focusedKey()).toBe(first)
    await page.keyboard.press('k')
    expect(await focusedKey()).toBe(key)
    await page.keyboard.press('e')
    await expect(page.getByLabel('Title')).toBeFocused()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Typed')
    await page.keyboard.press('Enter')
    await saved(page)
    await page.keyboard.press('Tab')
    await page.keyboard.insertText('-2')
    await page.keyboard.press('Enter')
    await expect(page.locator(`tr[data-key="${key}"]`)).toContainText('−2')
    await page.keyboard.press('Escape')
    await expect.poll(focusedKey).toBe(key)
    await page.keyboard.press('Space')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('x')
    await expect(page.getByText('2 selected')).toBeVisible()
    await page.keyboard.press('Delete')
    await expect(titles(page)).toHaveCount(1)
    expect(await focusedKey()).toBe(first)
    await page.keyboard.press('u')
    await expect(titles(page)).toHaveCount(3)
    await page.keyboard.press('?')
    await expect(page.getByRole('dialog').getByRole('heading', { name: 'Library' })).toBeVisible()
    await page.keyboard.press('Escape')
    expect(await stored(request, key)).toMatchObject({ title: 'Typed', reward: -2 })
    await page.locator(`tr[data-key="${key}"] a[data-title]`).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(({ pathname }) => pathname === `/t/${key}`)
  })

  await test.step('Labels are changed on the page of the trajectory, and the library shows them', async () => {
    await page.getByLabel('Title').fill('From its own page')
    await page.getByLabel('Title').press('Enter')
    await saved(page)
    await page.getByRole('link', { name: 'Library' }).click()
    await page.waitForURL('**/library')
    await expect(page.getByRole('link', { name: 'From its own page' })).toBeVisible()
  })

  await test.step('A deleted trajectory is restored on its page', async () => {
    await request.delete(`/api/trajectories/${key}`, { headers: CHANGING, data: {} })
    await page.goto(`/t/${key}`)
    await expect(page.getByRole('alert').filter({ hasText: 'was deleted' })).toBeVisible()
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.locator('[data-idle="true"]').waitFor()
    await expect(page.getByLabel('Title')).toHaveValue('From its own page')
    expect(await stored(request, key)).toMatchObject({ title: 'From its own page' })
  })
})

test('The library shows pages, a running trajectory, an empty list and a lost application', async ({
  page,
  request,
}) => {
  const tag = `journey-${randomUUID().slice(0, 8)}`
  const small = (name: string | number): Trajectory => ({
    format: FORMAT,
    id: `${tag}-${name}`,
    createdAt: '2026-01-01T00:00:00.000Z',
    tags: [tag],
    model: { name: 'none', tools: [] },
    vocab: { '1': 'one' },
    segments: [{ kind: 'prompt', ids: [1], messages: [] }],
    outcome: { kind: 'ended', reason: 'unknown' },
    provenance: { kind: 'recorded' },
  })
  const lines = Array.from({ length: 57 }, (_, n) => JSON.stringify(small(n)))
  const keys = await postImport(request, lines.join('\n'))
  const range = page.locator('[data-range]')

  await test.step('An unknown cursor shows the first page', async () => {
    await open(page, `/library?tag=${tag}&cursor=nonsense`)
    await expect(page.getByRole('alert').filter({ hasText: 'was not created by this server' })).toBeVisible()
    await page.getByRole('button', { name: 'Show the first page' }).click()
    await expect(range).toHaveText('1–50 of 57')
  })

  await test.step('The next page begins after the last shown row, even if another trajectory was added', async () => {
    // The list is loaded again while a row is unchecked, and would then contain the added trajectory.
    await expect
      .poll(async () => {
        const listed = await request.get(`/api/trajectories?tag=${tag}&health=unchecked`, { headers: AUTHORIZED })
        return (await listed.json()).total
      })
      .toBe(0)
    await reload(page)
    await expect(range).toHaveText('1–50 of 57')
    await imported(request, small('later'))
    await page.getByRole('button', { name: 'Next page' }).click()
    await expect(range).toHaveText('52–58 of 58')
    expect(await page.locator('tr[data-key]').evaluateAll((rows) => rows.map((row) => row.dataset.key))).toEqual(
      keys.slice(0, 7).toReversed(),
    )
    await page.getByRole('button', { name: 'Previous page' }).click()
    await expect(range).toHaveText('2–51 of 58')
    await page.goBack()
    await expect(range).toHaveText('52–58 of 58')
  })

  await test.step('A running trajectory keeps its new title, and cannot be deleted before its end', async () => {
    // The run is slow enough to last until it is stopped below.
    const slow = await startSlowServer(1_500)
    await request.delete('/api/servers/library-slow', { headers: CHANGING, data: {} })
    await request.post('/api/servers', { headers: CHANGING, data: { name: 'library-slow', baseUrl: slow.baseUrl } })
    const started = await request.post('/api/rollouts', {
      headers: CHANGING,
      data: {
        prompt: `What is 2 * 3? ${tag}-running`,
        server: 'library-slow',
        sampling: { temperature: 0 },
        detached: true,
      },
    })
    const { trajectoryId: key, rolloutId } = await started.json()
    await expect.poll(async () => (await stored(request, key)).segments?.length).toBeGreaterThanOrEqual(1)
    await page.getByRole('searchbox').fill(`${tag}-running`)
    await expect(page.getByText('No matches')).toBeVisible()
    await page.getByRole('combobox', { name: 'Tag', exact: true }).selectOption('')
    const row = page.locator(`tr[data-key="${key}"]`)
    await expect(row).toContainText('running')
    await row.locator('td').nth(3).click()
    await page.getByLabel('Title').fill('Said during the run')
    await page.getByLabel('Title').press('Enter')
    await saved(page)
    await page.getByRole('complementary').getByRole('button', { name: 'Delete' }).click()
    const alert = page.getByRole('alert').filter({ hasText: 'Said during the run' })
    await expect(alert).toContainText('a rollout of this trajectory is running')
    await expect(alert).toContainText('Stop the rollout')
    await request.post(`/api/rollouts/${rolloutId}/cancel`, { headers: CHANGING, data: {} })
    expect(await stored(request, key)).toMatchObject({
      title: 'Said during the run',
      outcome: { reason: 'cancelled' },
    })
    await expect(row).toContainText('cancelled')
    await page.getByRole('complementary').getByRole('button', { name: 'Delete' }).click()
    await expect(row).toHaveCount(0)
    await slow.close()
  })

  await test.step('A search without a hit, a lost server and an empty library say what to do', async () => {
    const list = ({ pathname }: URL) => pathname === '/api/trajectories'
    await expect(page.getByText('No matches')).toBeVisible()
    await expectFitEverywhere(page, undefined, 'main')
    await page.route(list, (route) => route.abort('connectionrefused'))
    await page.getByRole('searchbox').fill('x')
    const lost = page.getByRole('alert').filter({ hasText: 'does not answer' })
    await expect(lost).toBeVisible()
    await expectFit(page, 'main')
    await page.unroute(list)
    await page.route(list, (route) => route.fulfill({ json: { trajectories: [], total: 0, start: 0 } }))
    await page.getByRole('button', { name: 'Try again' }).click()
    await expect(lost).toHaveCount(0)
    await page.getByRole('button', { name: 'Clear search and filters' }).click()
    await expect(page.getByText('Nothing is stored yet')).toBeVisible()
    await expectFit(page, 'main')
  })
})

test('A trajectory is read when the pointer rests on its row, and not again when it is opened', async ({
  page,
  request,
}) => {
  const { tag, keys } = await store(request, ['two-steps'])
  await openLibrary(page, `?tag=${tag}`)
  let reads = 0
  page.on('request', (sent) => {
    if (new URL(sent.url()).pathname === `/api/trajectories/${keys[0]}`) reads++
  })
  await titles(page).first().hover()
  await expect.poll(() => reads).toBe(1)
  await titles(page).first().click()
  await expect(page.locator('.token-row').first()).toBeVisible()
  expect(reads).toBe(1)
})
