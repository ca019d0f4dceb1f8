/** A view as one HTML file: opened from a disk, with no network, it shows the same and lets nothing out. */
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BrowserContext, expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/core/codec.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { idle, open } from './application.ts'
import { expectFit, WINDOWS, watch } from './fit.ts'
import { largeTrajectory } from './large-trajectory.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-offline-'))

/** The file that Export gives of what the page shows. */
async function exported(page: Page, name: string, parts: readonly string[] = []): Promise<string> {
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  for (const part of parts) await page.getByRole('dialog').getByLabel(part).click()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export as an offline page' }).click()
  const file = path.join(folder, `${name}.html`)
  await (await download).saveAs(file)
  return file
}

async function openFile(page: Page, trajectory: Trajectory): Promise<void> {
  const file = path.join(folder, `${trajectory.id}.json`)
  writeFileSync(file, encode(trajectory))
  await open(page, '/library')
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByLabel('Trajectory file').setInputFiles(file)
  await idle(page)
}

/** A page that is given nothing from any network; what it asks for, besides itself. */
async function alone(
  context: BrowserContext,
  file: string,
): Promise<{ readonly page: Page; readonly asked: string[] }> {
  const page = await context.newPage()
  const asked: string[] = []
  const own = pathToFileURL(file).href
  await context.setOffline(true)
  page.on('request', (request) => {
    if (request.url() !== own && !request.url().startsWith('data:')) asked.push(request.url())
  })
  await page.goto(own)
  await idle(page)
  return { page, asked }
}

const token = (page: Page) => page.getByRole('region', { name: 'Token', exact: true })

test('an example as it was looked at: colour, token, find, outline and keys', async ({ page, browser }) => {
  await open(page, '/example/two-steps?colour=mask&at=195&find=calculator')
  await idle(page)
  const file = await exported(page, 'two-steps')
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const { page: saved, asked } = await alone(context, file)
  const wrongs = watch(saved)
  await expect(saved.getByRole('button', { name: 'Mask' })).toHaveAttribute('aria-pressed', 'true')
  await expect(token(saved)).toHaveAttribute('data-token', '195')
  await expect(saved.getByRole('searchbox').or(saved.getByPlaceholder(/find/i)).first()).toHaveValue('calculator')
  await saved.getByRole('grid', { name: 'Tokens' }).focus()
  await saved.keyboard.press('ArrowRight')
  await expect(token(saved)).toHaveAttribute('data-token', '196')
  await saved.keyboard.press('n')
  await expect(token(saved)).not.toHaveAttribute('data-token', '196')
  await saved.getByRole('button', { name: 'Logprob' }).click()
  await expect(saved.getByText(/surprise 0/)).toBeVisible()
  await saved
    .locator('.token-row')
    .first()
    .hover({ position: { x: 20, y: 10 } })
  await saved.getByRole('grid', { name: 'Tokens' }).press('Escape')
  await saved
    .locator('.token-row')
    .first()
    .click({ position: { x: 20, y: 10 } })
  await expect(token(saved)).toBeVisible()
  expect(asked).toEqual([])
  expect(wrongs).toEqual([])
  await context.close()
})

test('50,000 tokens, whatever they hold, stay text', async ({ page, browser }) => {
  const hostile = '</script><img src=x onerror="document.title=1"><script>document.title=1</script><!--'
  const large = largeTrajectory({ tokens: 50_000 })
  const first = large.segments[0]?.ids[3] ?? 0
  await openFile(page, {
    ...large,
    id: 'offline-50k',
    title: `${hostile}title`,
    vocab: { ...large.vocab, [first]: hostile },
  })
  const file = await exported(page, 'large', ['Title, tags, note, reward'])
  expect(statSync(file).size).toBeLessThan(4_000_000)
  expect(readFileSync(file, 'utf8')).not.toContain('onerror="')
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const { page: saved, asked } = await alone(context, file)
  expect(Number(await saved.getByRole('grid', { name: 'Tokens' }).getAttribute('data-tokens'))).toBeGreaterThan(49_999)
  await expect(saved.getByRole('heading', { level: 1 })).toHaveText(`${hostile}title`)
  expect(await saved.title()).toBe(`${hostile}title · Rollscope`)
  expect(await saved.locator('img').count()).toBe(0)
  await saved.getByRole('grid', { name: 'Tokens' }).focus()
  await saved.keyboard.press('End')
  await expect(token(saved)).toBeVisible()
  expect(await saved.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(5_000)
  expect(asked).toEqual([])
  await context.close()
})

test('a script in it could reach nobody', async ({ page, browser }) => {
  await open(page, '/example/two-steps')
  await idle(page)
  const file = await exported(page, 'closed')
  const reached: string[] = []
  const listener = createServer((request, response) => {
    reached.push(request.url ?? '')
    response.setHeader('access-control-allow-origin', '*').end()
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  const context = await browser.newContext()
  const saved = await context.newPage()
  await saved.goto(pathToFileURL(file).href)
  await idle(saved)
  const refusals = await saved.evaluate(async (address) => {
    const told: string[] = []
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => told.push(effectiveDirective))
    const element = (tag: string, change: object) =>
      document.body.append(Object.assign(document.createElement(tag), change))
    await fetch(`${address}/fetch`).catch(() => {})
    navigator.sendBeacon(`${address}/beacon`)
    element('img', { src: `${address}/image` })
    element('iframe', { src: `${address}/frame` })
    element('link', { rel: 'stylesheet', href: `${address}/style` })
    element('form', { action: `${address}/form`, method: 'post' })
    document.forms[0]?.submit()
    try {
      element('script', { src: `${address}/script` })
    } catch {
      told.push('trusted types')
    }
    try {
      document.body.innerHTML = '<b>'
    } catch {
      told.push('markup')
    }
    while (told.length < 10) await new Promise((resolve) => setTimeout(resolve, 50))
    return told
  }, address)
  expect([...new Set(refusals)].sort()).toEqual([
    'connect-src',
    'form-action',
    'frame-src',
    'img-src',
    'markup',
    'require-trusted-types-for',
    'style-src-elem',
    'trusted types',
  ])
  expect(reached).toEqual([])
  await context.close()
  listener.close()
})

test('fits every window, and says what is wrong with a damaged file', async ({ page, browser }) => {
  await open(page, '/example/two-steps?at=195')
  await idle(page)
  const file = await exported(page, 'fit')
  const context = await browser.newContext()
  const { page: saved } = await alone(context, file)
  for (const size of WINDOWS) {
    await saved.setViewportSize(size)
    await expectFit(saved)
  }
  const damaged = path.join(folder, 'damaged.html')
  writeFileSync(damaged, readFileSync(file, 'utf8').replace(/(id="rollscope-document">")[^"]{40}/, '$1'))
  await saved.goto(pathToFileURL(damaged).href)
  await expect(saved.getByRole('alert')).toContainText('This page is damaged')
  await context.close()
})
