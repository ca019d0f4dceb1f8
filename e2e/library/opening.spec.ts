/** Files of other tools, as a researcher opens them: dropped, pasted, chosen, as a folder, and by keyboard alone. The tools wrote them. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, type Page, test } from '@playwright/test'
import { idle, open } from '../support/application.ts'
import { expectFitEverywhere, WINDOWS, watch } from '../support/fit.ts'
import { CORE } from '../support/tags.ts'

const GOLDEN = 'lib/formats/golden/foreign'

/** Drops a file of another tool anywhere in the window, and waits until its trajectories are stored. */
async function drop(page: Page, name: string): Promise<void> {
  const before = page.url()
  const base64 = await readFile(path.join(GOLDEN, name), 'base64')
  const data = await page.evaluateHandle(
    ({ name, base64 }) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))], name))
      return transfer
    },
    { name, base64 },
  )
  await page.dispatchEvent('body', 'drop', { dataTransfer: data })
  await page.waitForURL((url) => url.pathname.startsWith('/t/') && url.href !== before)
  await idle(page)
}

/** Opens the library, and waits until it takes drops and pastes. */
async function openLibrary(page: Page): Promise<void> {
  await open(page, '/library')
  await page.locator('[data-library="idle"]').waitFor()
}

test('The empty playground offers to open a file, for a researcher who comes with rollouts', async ({ page }) => {
  await open(page)
  await page.getByRole('button', { name: 'Inspect a file of rollouts…' }).click()
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('dialog', { name: 'Open a trajectory' }).getByRole('button', { name: 'Choose files…' }).click()
  await (await chooser).setFiles('public/examples/two-steps.json')
  await idle(page)
  await expect(page).toHaveURL(/\/t\//)
})

const badges = (page: Page) => page.getByRole('list', { name: 'Missing in the file' }).getByRole('listitem')
const grid = (page: Page) => page.getByRole('grid', { name: 'Tokens' })

test('Dropped files of verifiers, datasets and Inspect show their ids, with badges for what they lack, and the drift of a trace', {
  tag: CORE,
}, async ({ page }) => {
  const wrongs = watch(page)
  await openLibrary(page)

  await test.step('A Parquet file of datasets has ids, logprobs and rewards', async () => {
    await drop(page, 'hf-tokens.parquet')
    await expect(grid(page)).toContainText('⟨437⟩⟨207⟩')
    await expect(badges(page)).toContainText(['No token texts', 'Raw or processed logprobs?', 'No temperature'])
    await expect(page.getByLabel('Reward')).toHaveValue('1')
  })

  await test.step('An archive of Inspect has the ids of the raw calls', async () => {
    await drop(page, 'inspect-server.eval')
    await expect(grid(page)).toContainText('⟨437⟩')
    await expect(page.getByText('The texts of some tokens are unknown.')).toBeVisible()
    await expect(badges(page)).toHaveText(['No token texts', 'No special tokens'])
  })

  await test.step('The second path of a trace of verifiers says where and why it is a fork, and is compared with the first', async () => {
    await drop(page, 'verifiers-traces.jsonl')
    await expect(page.getByText('This is the first of 8 trajectories in the opened file.')).toBeVisible()
    await expect(page.getByRole('navigation', { name: 'List of trajectories' })).toContainText('1 of 8')
    await page.keyboard.press('N')
    await expect(page.getByRole('navigation', { name: 'List of trajectories' })).toContainText('2 of 8')
    await idle(page)
    const relation = page.getByRole('region', { name: 'Fork' })
    // The paths share 147 tokens and the first 20 ids of their nodes, which have 43 and 45 ids.
    await expect(relation).toContainText('at token 167: drift: the conversation was encoded again')
    await expect(relation).toContainText(/⟨5⟩\s*→\s*⟨207⟩/)
    await page.getByRole('button', { name: /prompt does not continue/ }).click()
    await expect(page.getByRole('link', { name: 'Show in Compare' })).toBeVisible()
    await expectFitEverywhere(page)
    await page.setViewportSize(WINDOWS[0])
    await relation.getByRole('link', { name: 'Compare both' }).click()
    await expect(page.getByRole('region', { name: 'Summary' })).toContainText('167')
    await expect(page.getByRole('region', { name: 'Summary' })).toContainText('3drift spans')
  })

  await test.step('The library has space for the titles beside the badges, and its list appears at its place', async () => {
    const answered = Promise.withResolvers<void>()
    await page.route('**/api/trajectories?*', async (route) => {
      await answered.promise
      await route.continue()
    })
    await page.goto('/library')
    const list = page.getByRole('region', { name: 'List' })
    await expect(list).toBeVisible()
    const before = await list.boundingBox()
    answered.resolve()
    await expect(page.locator('[data-range]')).toBeVisible()
    expect(await list.boundingBox()).toEqual(before)
    const titles = page.locator('[data-title]').filter({ hasText: /^.{1,16}$/ })
    await expect(titles.first()).toBeVisible()
    for (const width of [WINDOWS[0].width, 1280]) {
      await page.setViewportSize({ ...WINDOWS[0], width })
      expect(await titles.evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length)).toBe(0)
    }
  })
  expect(wrongs).toEqual([])
})

/** What a dump of miles has of one sample: `rollout_log_probs` and `log_probs` of its response. */
interface MilesDump {
  readonly rollout_data: Readonly<Record<'rollout_log_probs' | 'log_probs' | 'ref_log_probs', readonly number[][]>>
}

/** Returns the ratio that is farthest from 1, as the card shows it. */
function farthest(numerator: readonly number[] = [], denominator: readonly number[] = []): string {
  const logRatios = numerator.map((value, index) => value - (denominator[index] ?? 0))
  return Math.exp(logRatios.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a))).toFixed(3)
}

test('The largest importance ratio of a dump of miles is three clicks away, and the reference can be compared too', async ({
  page,
}) => {
  const { rollout_data: dump } = JSON.parse(await readFile(`${GOLDEN}/miles-train-data.json`, 'utf8')) as MilesDump
  const card = page.getByRole('region', { name: 'Token', exact: true })
  await openLibrary(page)
  await drop(page, 'miles-train-data.json')
  await page.getByLabel('More colour modes').selectOption('ratio')
  await page.getByRole('button', { name: /^Largest/ }).click()
  await expect(card).toContainText(farthest(dump.log_probs[0], dump.rollout_log_probs[0]))
  await expect(page.locator('[data-comparison="assumed"]')).toContainText('whether the trainer’s logprobs are raw')

  await page.getByLabel('Logprobs that they are compared with').selectOption({ label: 'reference' })
  await expect(page).toHaveURL(/pair=/)
  await page.getByRole('button', { name: /^Largest/ }).click()
  await expect(card).toContainText(farthest(dump.log_probs[0], dump.ref_log_probs[0]))
  await expectFitEverywhere(page)
  await page.setViewportSize(WINDOWS[1])
  // Most of a narrow window is for tokens, and the chart is one click away.
  const height = (await grid(page).boundingBox())?.height ?? 0
  expect(height).toBeGreaterThan(200)
  await page.getByRole('button', { name: 'Chart', exact: true }).click()
  await expect(page.getByRole('img', { name: /^Importance ratio of/ })).toBeVisible()
})

test('A pasted record whose logprobs are all 0 is repaired by name, the page says that it was, and the repair is undone', async ({
  page,
}) => {
  const record = {
    tokens: [1, 2, 3, 4, 5, 6, 7, 8],
    response_length: 5,
    loss_mask: [1, 1, 1, 1, 1],
    rollout_log_probs: [0, 0, 0, 0, 0],
    status: 'completed',
  }
  await openLibrary(page)
  await page.evaluate((text) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', text)
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  }, JSON.stringify(record))
  await page.waitForURL(/\/t\//)
  await idle(page)
  await page
    .getByRole('region', { name: 'Health' })
    .getByRole('button', { name: /logprob/ })
    .first()
    .click()
  await page.getByRole('button', { name: 'Make the logprobs of trained tokens unknown' }).click()
  await page.getByText('Repaired: 1').click()
  await expect(page.getByText('5 logprobs of trained tokens that were exactly 0 became unknown.')).toBeVisible()
  await expect(badges(page).filter({ hasText: 'No logprobs' })).toBeVisible()
  await test.step('The repair is undone by keyboard, and the finding is there again', async () => {
    await page.getByRole('button', { name: 'Undo repair' }).focus()
    await page.keyboard.press('Enter')
    await expect(page.getByText('Repaired: 1')).toBeHidden()
    const outline = page.getByRole('complementary', { name: 'Outline' })
    await expect(outline.locator(':focus')).toBeVisible()
    await expect(badges(page).filter({ hasText: 'No logprobs' })).toBeHidden()
    await expect(
      page
        .getByRole('region', { name: 'Health' })
        .getByRole('button', { name: /logprob/ })
        .first(),
    ).toBeVisible()
  })
})

test('A folder opens with a list of what became of each file', async ({ page }, info) => {
  const folder = info.outputPath('rollouts')
  await mkdir(path.join(folder, 'step_2'), { recursive: true })
  await cp(`${GOLDEN}/verl-3.jsonl`, path.join(folder, 'step_2', '3.jsonl'))
  await cp(`${GOLDEN}/atif-1.8.json`, path.join(folder, 'trajectory.json'))
  await writeFile(path.join(folder, 'notes.txt'), 'no trajectory')
  await openLibrary(page)
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByLabel('Folder of rollouts').setInputFiles(folder)
  const dialog = page.getByRole('dialog', { name: 'Open files' })
  await expect(dialog.getByRole('status').first()).toHaveText('2 files opened, 1 not opened.')
  await expect(dialog.getByRole('listitem').filter({ hasText: 'notes.txt' })).toContainText('Not opened: ')
  await expect(dialog.getByRole('listitem').filter({ hasText: '3.jsonl' })).toContainText('4 trajectories')
})

test('A refused URL stays in the dialog with its reason, and a file opens by keyboard alone', async ({ page }) => {
  const pressTo = async (name: string) => {
    const target = page.getByRole('button', { name, exact: true })
    for (let presses = 0; presses < 30; presses++) {
      if (await target.evaluate((button) => button === document.activeElement)) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`Tab does not reach ${name}`)
  }
  await openLibrary(page)
  await pressTo('Open')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Open a trajectory' })
  await pressTo('Choose a folder…')
  await page.keyboard.press('Tab')
  const url = dialog.getByRole('textbox', { name: 'Open a URL' })
  await expect(url).toBeFocused()
  await page.keyboard.type('https://example.org/rollouts.jsonl')
  await page.keyboard.press('Enter')
  await expect(dialog.getByRole('alert')).toContainText('The file is not downloaded: ')
  await expect(url).toHaveValue('https://example.org/rollouts.jsonl')
  await expectFitEverywhere(page, undefined, 'dialog')
  await page.setViewportSize(WINDOWS[0])

  // The browser reports file dialogs only after this, so it precedes the last steps to the button.
  const chooser = page.waitForEvent('filechooser')
  await pressTo('Choose files…')
  await page.keyboard.press('Enter')
  await (await chooser).setFiles(`${GOLDEN}/vllm-chat.json`)
  await page.waitForURL(/\/t\//)
  await idle(page)
  await expect(grid(page)).toBeFocused()
  await page.keyboard.press('End')
  await expect(page.getByRole('region', { name: 'Token', exact: true })).toBeVisible()
})
