/** The trainer’s numbers: importance ratios on the tokens, thresholds, the first jump, outliers, and columns that arrive later. */
import { expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import { AUTHORIZED, CHANGING, idle, open, postImport } from '../support/application.ts'
import { expectFitEverywhere, watch } from '../support/fit.ts'
import { CORE } from '../support/tags.ts'
import { trainerTrajectory } from '../support/trainer-trajectory.ts'

const ID = 'ratios-of-a-trainer'
const address = `/t/${ID}`

test.beforeAll(async ({ request }) => {
  await postImport(request, encode(trainerTrajectory(ID)), 'miles.json')
})

test.afterAll(async ({ request }) => {
  await request.delete(`/api/trajectories/${ID}`, { headers: { ...AUTHORIZED, 'x-rollscope': '1' } })
})

const legend = (page: Page) => page.locator('[data-legend="ratio"]').filter({ visible: true })
const card = (page: Page) => page.getByRole('region', { name: 'Token', exact: true })
/** Filters out the errors for the tokenizer of the generated trajectory, which is not on this machine: its drift is unknown. */
const faults = (wrongs: readonly string[]) => wrongs.filter((wrong) => !wrong.includes('422'))

test('The largest importance ratio is three clicks away, the thresholds move by keys, and find has the same tokens', {
  tag: CORE,
}, async ({ page }) => {
  const wrongs = watch(page)
  await open(page, `${address}?colour=logprob`)
  await idle(page)

  await test.step('A colour and a button lead to the largest ratio', async () => {
    await page.getByLabel('More colour modes').selectOption('ratio')
    await page.getByRole('button', { name: /^Largest/ }).click()
    await expect(card(page)).toContainText('6.821')
    await expect(page.locator('[data-comparison="converted"]')).toContainText('converted to T 0.7, exact')
  })

  await test.step('The main finding names the weight version, and its key goes there', async () => {
    const jump = await page.locator('[data-jump]').getAttribute('data-jump')
    await expect(page.locator('[data-jump]')).toContainText('weight version 41 → 42')
    await page.getByRole('grid', { name: 'Tokens' }).focus()
    await page.keyboard.press('d')
    await expect(page).toHaveURL((url) => url.searchParams.get('at') === jump)
    await page.keyboard.press('n')
    await expect(page).not.toHaveURL((url) => url.searchParams.get('at') === jump)
  })

  await test.step('An arrow key moves a threshold by 0.1, the counts follow, and the address has it', async () => {
    const before = Number(await legend(page).getAttribute('data-dropped'))
    const low = page.getByRole('slider', { name: 'IcePop, lower bound' })
    await low.focus()
    for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowRight')
    await expect(low).toHaveAttribute('aria-valuenow', '0.8')
    await expect.poll(async () => Number(await legend(page).getAttribute('data-dropped'))).toBeGreaterThan(before)
    await expect(page).toHaveURL(/clip=0.8/)
    await page.getByRole('button', { name: 'Reset thresholds' }).click()
    await expect(legend(page)).toHaveAttribute('data-dropped', String(before))
  })

  await test.step('Outliers are filtered by cause, and find has the tokens that TIS caps', async () => {
    const outliers = page.getByRole('region', { name: 'Outliers' })
    await outliers.getByRole('button', { name: /^stop token/ }).click()
    await expect(outliers.getByRole('listitem').first()).toContainText('last token of the response')
    const capped = await legend(page).getAttribute('data-capped')
    await page.getByLabel('Find', { exact: true }).fill('ratio>2')
    await expect(page.getByText(new RegExp(`\\b${capped} (hits|tokens)|of ${capped}\\b`)).first()).toBeVisible()
  })
  await expectFitEverywhere(page)
  expect(faults(wrongs)).toEqual([])
})

test('A trajectory without a trainer says how to send its logprobs, and an open page shows columns that arrive', async ({
  page,
  request,
}) => {
  const plain = trainerTrajectory('ratios-later')
  const bare = {
    ...plain,
    segments: plain.segments.map((segment) => {
      const { columns: _, ...rest } = segment
      return rest
    }),
  }
  await postImport(request, encode(bare), 'later.json')
  await open(page, '/t/ratios-later?colour=ratio')
  await expect(page.getByRole('heading', { name: 'No trainer logprobs in this trajectory' })).toBeVisible()
  await expect(page.getByRole('region', { name: 'No trainer logprobs' })).toContainText(
    '/api/trajectories/ratios-later/columns',
  )
  const first = plain.segments[0]?.ids.length ?? 0
  const values = plain.segments[1]?.columns?.trainerLogprobs ?? []
  const meaning = { quantity: 'logprob', model: 'trainer', values: 'processed', temperature: 0.7 }
  const reply = await request.patch('/api/trajectories/ratios-later/columns', {
    headers: CHANGING,
    data: { columns: { trainerLogprobs: { start: first, values, meaning } } },
  })
  expect(reply.ok()).toBe(true)
  await expect(legend(page)).toBeVisible({ timeout: 15_000 })
  await request.delete('/api/trajectories/ratios-later', { headers: { ...AUTHORIZED, 'x-rollscope': '1' } })
})
