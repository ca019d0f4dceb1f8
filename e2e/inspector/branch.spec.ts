/** Branches from the inspector, with the built-in server. */
import { spawnSync } from 'node:child_process'
import { expect, test } from '@playwright/test'
import { branchOfTrajectory, branchPython } from '#lib/share/reproduce/branch.ts'
import { APPLICATION_URL, CHANGING, idle, open, TOKEN } from '../support/application.ts'
import { expectFitEverywhere, WINDOWS } from '../support/fit.ts'
import { CORE } from '../support/tags.ts'

test('A token is branched by keyboard: an alternative is resampled, a text is forced, and a branch names its origin', {
  tag: CORE,
}, async ({ page, request }) => {
  const sampling = { temperature: 0, max_new_tokens: 60 }
  const body = { prompt: 'What is 25 * 17?', tools: ['calculator'], sampling, detached: true }
  const started = await (await request.post('/api/rollouts', { headers: CHANGING, data: body })).json()
  await request.get(`/api/rollouts/${started.rolloutId}/events`, { headers: CHANGING })
  const stored = await (await request.get(`/api/trajectories/${started.trajectoryId}`, { headers: CHANGING })).json()
  const at = stored.segments[0].ids.length + 12
  await open(page, `/t/${started.trajectoryId}?at=${at}`)
  await idle(page)
  const [wide, narrow] = WINDOWS
  const panel = page.getByRole('region', { name: 'Branch', exact: true })
  const list = page.getByRole('region', { name: 'Branches', exact: true })
  const card = page.getByRole('region', { name: 'Token', exact: true })
  const ended = page.locator('[data-branches-running="false"]')
  const grid = page.getByRole('grid', { name: 'Tokens' })
  await expect(panel).toContainText(/8 × \d+ tokens ≈ \d+ tokens/)

  await test.step('a digit chooses an alternative, and R resamples it', async () => {
    await grid.focus()
    await page.keyboard.press('2')
    await expect(card.getByRole('button', { pressed: true })).toHaveAttribute('aria-keyshortcuts', '2')
    await expect(panel.getByRole('heading', { name: /^Branch after/ })).toBeVisible()
    await expectFitEverywhere(page)
    await page.setViewportSize(wide)
    await panel.getByLabel('Resamples').fill('2')
    await grid.focus()
    await page.keyboard.press('R')
    await expect(ended).toContainText(`All 2 branches are stored. ${at} tokens are shared`)
    const samples = list.locator('summary', { hasText: new RegExp(`at ${at}, × 2, .+ for .+`) })
    await expect(samples).toBeVisible()
    await expect(list.getByRole('link')).toHaveCount(1)
    await list.locator('summary').press('Enter')
    await expect(list.getByRole('link')).toHaveCount(3)
  })

  await test.step('F forces a text, also in a narrow window, and the field starts the branch', async () => {
    await page.setViewportSize(narrow)
    await page.getByRole('button', { name: 'Tokens', exact: true }).press('Enter')
    await grid.focus()
    await page.keyboard.press('F')
    await expect(panel.getByLabel(/^Text, which/)).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(grid).toBeFocused()
    await page.keyboard.press('F')
    await expect(panel.getByLabel(/^Text, which/)).toBeFocused()
    await page.setViewportSize(wide)
    await page.keyboard.type('12 + ')
    await panel.getByRole('button', { name: 'Continue from here' }).press('Enter')
    await expect(ended).toContainText('The branch is stored.')
    await ended.getByRole('link', { name: 'Open it' }).press('Enter')
    await expect(page.getByRole('region', { name: 'Fork' })).toContainText('text or ids were inserted')
    await expect(card).toContainText('0 · forced')
    await expect(list).toContainText(`Same tokens as main up to ${at - 1}.`)
    await expect(list.getByRole('link', { name: 'Compare with main' })).toBeVisible()
  })

  await test.step('the copied Python script of a branch starts it again', async () => {
    const forked = await (
      await request.get(new URL(page.url()).pathname.replace('/t/', '/api/trajectories/'), { headers: CHANGING })
    ).json()
    const branch = branchOfTrajectory(forked)
    if (!branch) throw new Error('it is a branch')
    const { stdout, stderr } = spawnSync('python3', ['-c', branchPython(branch)], {
      encoding: 'utf8',
      env: { ...process.env, no_proxy: '127.0.0.1', ROLLSCOPE_URL: APPLICATION_URL, ROLLSCOPE_TOKEN: TOKEN },
    })
    const [key] = stdout.split(' ')
    const again = await (await request.get(`/api/trajectories/${key}`, { headers: CHANGING })).json()
    expect(again.segments[1]?.ids, stderr).toEqual(forked.segments[1].ids)
    expect(again.forkedFrom).toEqual(forked.forkedFrom)
    await expect(list.getByRole('link', { name: /text or ids were inserted/ })).toHaveCount(1)
    await request.delete(`/api/trajectories/${key}`, { headers: CHANGING })
  })

  await test.step('the export asks whether forced tokens are trained', async () => {
    await list.getByRole('button', { name: 'Export leaves…' }).press('Enter')
    await page.getByRole('button', { name: 'Choose a format for 4 trajectories…' }).press('Enter')
    await expect(page.getByRole('checkbox', { name: 'Train the forced tokens (loss mask 1)' })).not.toBeChecked()
    await page.keyboard.press('Escape')
  })

  await test.step('X cuts, and B on a prompt edits its message', async () => {
    await open(page, `/t/${started.trajectoryId}?at=${at}`)
    await expect(panel.getByRole('button', { name: /^Cut here/ })).toBeVisible()
    await grid.focus()
    await page.keyboard.press('X')
    await expect(list.getByRole('link', { name: /cut there/ })).toBeVisible()
    await open(page, `/t/${started.trajectoryId}?at=1`)
    await expect(panel.getByRole('heading', { name: 'Edit and continue' })).toBeVisible()
    await grid.focus()
    await page.keyboard.press('B')
    await expect(panel.getByLabel('Text of the user message')).toBeFocused()
    await panel.getByLabel('Text of the user message').fill('What is 7 + 8?')
    await grid.focus()
    await page.keyboard.press('B')
    await expect(list.getByRole('link', { name: /another message/ })).toBeVisible()
    await expect(ended).toBeVisible()
  })
})

test('Resume as branch opens the branch and passes the focus on to its tokens', async ({ page, request }) => {
  const body = { prompt: 'What is 2 + 2?', sampling: { temperature: 0, max_new_tokens: 2 }, detached: true }
  const started = await (await request.post('/api/rollouts', { headers: CHANGING, data: body })).json()
  await request.get(`/api/rollouts/${started.rolloutId}/events`, { headers: CHANGING })
  await open(page, `/t/${started.trajectoryId}`)
  await idle(page)
  await page.getByRole('button', { name: 'Resume as branch' }).press('Enter')
  await page.waitForURL((url) => /^\/t\/./.test(url.pathname) && !url.pathname.endsWith(started.trajectoryId))
  await expect(page.getByRole('region', { name: 'Fork' })).toContainText('a resumed response')
  await expect(page.getByRole('grid', { name: 'Tokens' })).toBeFocused()
})
