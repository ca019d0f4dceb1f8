/** The servers page: servers are added, tested, used, changed and removed; settings are exported and imported. */
import { readFile } from 'node:fs/promises'
import { expect, type Locator, type Page, test } from '@playwright/test'
import { AUTHORIZED, CHANGING, open } from '../support/application.ts'
import { expectFitEverywhere, watch } from '../support/fit.ts'
import { type SlowServer, startSlowServer } from '../support/slow-server.ts'
import { CORE } from '../support/tags.ts'

const KEY = 'sk-canary-of-servers-77'
const NAME = 'Büro 2 H100'

let sglang: SlowServer
test.beforeAll(async () => {
  sglang = await startSlowServer(0, { apiKey: KEY })
})
test.afterAll(() => sglang.close())
test.beforeEach(async ({ request }) => {
  const { servers } = await (await request.get('/api/servers', { headers: AUTHORIZED })).json()
  for (const { name, source } of servers)
    if (source === 'saved')
      await request.delete(`/api/servers/${encodeURIComponent(name)}`, { headers: CHANGING, data: {} })
})

const list = (page: Page) => page.getByRole('region', { name: 'All servers' })
const shown = (page: Page, name: string) => page.getByRole('article', { name, exact: true })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const link = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true })

/** Returns the value beside a name in the details of a server. */
const fact = (page: Page, name: string): Locator =>
  page.locator('dt', { hasText: new RegExp(`^${name}$`) }).locator('xpath=following-sibling::dd[1]')

// server-form.test.tsx covers every error of a field, server-details.test.tsx every fact.
test('A server is added, tested, used, moved to an origin without its key, and removed by keyboard, in both windows', {
  tag: CORE,
}, async ({ page }) => {
  const wrongs = watch(page)
  await open(page, '/servers')
  const heading = (name: string) => shown(page, name).getByRole('heading', { level: 2 }).first()

  await test.step('a name that is in use is reported at its field, and typed values stay while another server is shown', async () => {
    await button(page, 'Add a server').focus()
    await page.keyboard.press('Enter')
    await expect(page.getByLabel('Name')).toBeFocused()
    for (const text of ['built-in', sglang.baseUrl, KEY]) {
      await page.keyboard.insertText(text)
      await page.keyboard.press('Tab')
    }
    await button(page, 'Save').press('Enter')
    await expect(page.getByLabel('Name')).toHaveAccessibleDescription(/a server named "built-in" already exists/)
    await list(page).getByRole('button', { name: 'built-in' }).click()
    await expect(shown(page, 'built-in')).toBeVisible()
    await button(page, 'Add a server').click()
    await expect(page.getByLabel('Base URL')).toHaveValue(sglang.baseUrl)
    await expect(page.getByLabel('API key')).toHaveValue(KEY)
  })

  await test.step('a saved server has the focus, and its facts fit both windows', async () => {
    await page.getByLabel('Name').fill(NAME)
    await page.keyboard.press('Enter')
    await expect(heading(NAME)).toBeFocused()
    await expect(shown(page, NAME)).toHaveAttribute('data-state', 'ready')
    await expect(shown(page, NAME)).toContainText('a key is stored')
    await expect(fact(page, 'model')).toHaveText('tiny-qwen3')
    await expect(fact(page, 'tool-call parser')).toHaveText('qwen, here hermes')
    await expect(fact(page, 'requests running')).toHaveText('0 of 8')
    await expectFitEverywhere(page)
  })

  await test.step('the server’s buttons are in tab order, and the playground uses the server', async () => {
    await page.setViewportSize({ width: 1440, height: 900 })
    await heading(NAME).focus()
    for (const name of ['Use in the playground', 'Test']) {
      await page.keyboard.press('Tab')
      await expect(button(page, name)).toBeFocused()
    }
    await page.keyboard.press('Enter')
    await expect(page.getByRole('status').filter({ hasText: 'it is ready' })).toBeVisible()
    await page.keyboard.press('Tab')
    await expect(button(page, 'Change')).toBeFocused()
    await button(page, 'Use in the playground').press('Enter')
    await expect(list(page).getByRole('button', { name: NAME })).toContainText('in the playground')
    await link(page, 'Playground').click()
    await expect(page.getByRole('combobox', { name: 'Server', exact: true })).toHaveValue(NAME)
    await page.getByRole('link', { name: 'Manage servers' }).click()
  })

  await test.step('a change of the server’s origin says that the key is removed, and a changed name keeps it in use', async () => {
    await button(page, 'Change').press('Enter')
    await expect(page.getByLabel('Name')).toBeFocused()
    await page.keyboard.press('End')
    await page.keyboard.type(' 2')
    await expect(page.getByLabel('API key')).toHaveValue('')
    await page.getByLabel('Base URL').fill(sglang.baseUrl.replace('127.0.0.1', 'localhost'))
    await expect(page.getByText(`belongs to ${sglang.baseUrl}`)).toBeVisible()
    await expectFitEverywhere(page, undefined, 'form')
    await page.getByLabel('Name').press('Enter')
    await expect(heading(`${NAME} 2`)).toBeFocused()
    await expect(shown(page, `${NAME} 2`)).toHaveAttribute('data-state', 'failed')
    await expect(shown(page, `${NAME} 2`)).toContainText('UPSTREAM_AUTH')
    await expect(shown(page, `${NAME} 2`)).not.toContainText('a key is stored')
    await expectFitEverywhere(
      page,
      async (isNarrow) => {
        if (isNarrow) await button(page, 'All servers').click()
        await expect(list(page).getByRole('button', { name: `${NAME} 2` })).toContainText('in the playground')
      },
      'main',
    )
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  await test.step('a removal can be cancelled; after it the list has the focus, and the default is used', async () => {
    await button(page, 'Remove').press('Enter')
    const dialog = page.getByRole('dialog')
    await expect(dialog).toBeVisible()
    await expectFitEverywhere(page, undefined, 'dialog')
    await page.setViewportSize({ width: 1440, height: 900 })
    await dialog.getByRole('button', { name: 'Cancel' }).press('Enter')
    await expect(button(page, 'Remove')).toBeFocused()
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Remove' }).press('Enter')
    await expect(list(page)).toBeFocused()
    await expect(list(page).getByRole('button', { name: NAME })).toHaveCount(0)
    await expect(list(page).getByRole('button', { name: 'built-in' })).toContainText('in the playground')
    expect(JSON.stringify(await page.evaluate(() => ({ ...localStorage })))).not.toContain(KEY)
  })
  // The browser's console reports the refusal of the name that is in use.
  expect(wrongs).toEqual([expect.stringContaining('409 (Conflict)')])
})

async function exportSettings(page: Page): Promise<string> {
  const download = page.waitForEvent('download')
  await button(page, 'Export settings').click()
  const file = await download
  expect(file.suggestedFilename()).toBe('rollscope-settings.json')
  return readFile(await file.path(), 'utf8')
}

async function chooseSettings(page: Page, settings: object, name: string): Promise<void> {
  const chooser = page.waitForEvent('filechooser')
  await button(page, 'Import settings').click()
  await (await chooser).setFiles({ name, mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(settings)) })
}

// settings.test.ts covers every choice and every reason of a refusal, import-preview.test.tsx their texts.
test('Settings are exported without keys, and imported elsewhere after a preview of the changes', async ({
  page,
  request,
  browser,
}) => {
  const save = (method: 'post' | 'put' | 'delete', name: string, data: object) =>
    request[method](`/api/servers${method === 'post' ? '' : `/${encodeURIComponent(name)}`}`, {
      headers: CHANGING,
      data,
    })
  await save('post', NAME, { name: NAME, baseUrl: sglang.baseUrl, apiKey: KEY })
  await save('post', 'other', { name: 'other', baseUrl: 'http://127.0.0.1:9' })
  await open(page)
  await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption(NAME)
  await page.getByLabel('temperature').fill('0.3')
  await page.getByRole('link', { name: 'Manage servers' }).click()
  const text = await exportSettings(page)
  expect(text).not.toContain(KEY)
  const settings = JSON.parse(text)
  expect(settings).toMatchObject({
    format: 'rollscope.settings/1',
    servers: [
      { name: NAME, baseUrl: sglang.baseUrl, needsKey: true },
      { name: 'other', baseUrl: 'http://127.0.0.1:9', needsKey: false },
    ],
    setup: { server: NAME, sampling: { temperature: '0.3' } },
  })
  await chooseSettings(page, settings, 'settings.json')
  await expect(page.getByRole('dialog')).toContainText('Everything in this file is already here.')

  // In the other place one server is missing and the other has another address.
  await save('delete', 'other', {})
  await save('put', NAME, { name: NAME, baseUrl: 'http://localhost:30009', apiKey: 'sk-of-elsewhere' })
  const context = await browser.newContext()
  const elsewhere = await context.newPage()
  await open(elsewhere, '/servers')

  await test.step('a file without settings is refused with the position of the error', async () => {
    await chooseSettings(elsewhere, { ...settings, servers: [{ name: 'a', baseUrl: 7 }] }, 'odd.json')
    const alert = elsewhere.getByRole('alert').filter({ hasText: 'odd.json is not a settings file' })
    await expect(alert).toContainText('servers[0].baseUrl: expected a string, found 7')
    await expect(elsewhere.getByRole('dialog')).toHaveCount(0)
  })

  await test.step('the changes of an import are shown in both windows, and a refused address does not affect the others', async () => {
    const refused = {
      name: 'metadata',
      baseUrl: `http://169.254.169.254${'/a-very-long-path'.repeat(6)}`,
      needsKey: false,
    }
    const file = {
      ...settings,
      servers: [...settings.servers, refused],
      setup: { ...settings.setup, system: 'x'.repeat(300) },
    }
    await chooseSettings(elsewhere, file, 'settings.json')
    const preview = elsewhere.getByRole('dialog')
    const conflict = preview.locator('[data-change="conflict"]')
    await expect(conflict).toContainText(NAME)
    await expect(conflict.getByRole('button', { name: 'Keep mine' })).toHaveAttribute('aria-pressed', 'true')
    await conflict.getByRole('button', { name: 'Use the file’s' }).click()
    await expect(conflict).toContainText('The stored key belongs to http://localhost:30009 and is removed.')
    await expect(preview).toContainText('sampling.temperature')
    await preview
      .getByRole('group', { name: 'Playground setup' })
      .getByRole('button', { name: 'Use the file’s' })
      .click()
    await expectFitEverywhere(elsewhere, undefined, 'dialog')
    await elsewhere.setViewportSize({ width: 1440, height: 900 })
    await preview.getByRole('button', { name: 'Import', exact: true }).click()
    await expect(preview.getByRole('alert')).toContainText('link-local, metadata')
    await expect(preview.locator('[data-change="same"]')).toHaveCount(2)
    await elsewhere.keyboard.press('Escape')
  })

  const { servers } = await (await request.get('/api/servers', { headers: AUTHORIZED })).json()
  expect(servers.filter(({ source }: { source: string }) => source === 'saved')).toMatchObject([
    { name: NAME, baseUrl: sglang.baseUrl, hasKey: false },
    { name: 'other', baseUrl: 'http://127.0.0.1:9', hasKey: false },
  ])
  await link(elsewhere, 'Playground').click()
  await expect(elsewhere.getByLabel('temperature')).toHaveValue('0.3')
  await expect(elsewhere.getByRole('combobox', { name: 'Server', exact: true })).toHaveValue(NAME)
  await context.close()
})
