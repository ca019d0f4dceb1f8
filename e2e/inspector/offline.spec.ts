/** A view as one HTML file: opened from a disk without a network it shows the same, and it can send nothing. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pathToFileURL } from 'node:url'
import { type APIRequestContext, expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { idle, open, postImport } from '../support/application.ts'
import { expectFitEverywhere, watch } from '../support/fit.ts'

const HOSTILE = '</script><img src=x onerror="document.title=1"><script>document.title=1</script><!--'

/** Stores the example with hostile text as its title and as a token, and returns its key. */
async function storeHostile(request: APIRequestContext): Promise<string> {
  const example: Trajectory = JSON.parse(readFileSync('public/examples/two-steps.json', 'utf8'))
  const trajectory: Trajectory = {
    ...example,
    id: 'offline-hostile',
    title: `${HOSTILE}title`,
    vocab: { ...example.vocab, [example.segments[0]?.ids[3] ?? 0]: HOSTILE },
  }
  return (await postImport(request, encode(trajectory), 'hostile.json'))[0]
}

/** Exports the shown page with title, tags, notes and reward, and returns the path of the HTML file. */
async function exportPage(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await page.getByRole('dialog').getByLabel('Title, tags, notes, reward').click()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export as an offline page' }).click()
  const file = test.info().outputPath('page.html')
  await (await download).saveAs(file)
  return file
}

const token = (page: Page) => page.getByRole('region', { name: 'Token', exact: true })

test('An exported page shows the same without a network, keeps foreign text as text, and lets nothing out', async ({
  page,
  request,
  browser,
}) => {
  const key = await storeHostile(request)
  await open(page, `/t/${encodeURIComponent(key)}?colour=mask&at=195&find=calculator`)
  await idle(page)
  const count = await page.getByRole('grid', { name: 'Tokens' }).getAttribute('data-tokens')
  const file = await exportPage(page)
  expect(readFileSync(file, 'utf8')).not.toContain('onerror="')

  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const saved = await context.newPage()
  const wrongs = watch(saved)
  const requests: string[] = []
  saved.on('request', (request) => {
    if (request.url() !== pathToFileURL(file).href && !request.url().startsWith('data:')) requests.push(request.url())
  })

  await test.step('the page opens in the saved view, and its text is not markup', async () => {
    await context.setOffline(true)
    await saved.goto(pathToFileURL(file).href)
    await idle(saved)
    await expect(saved.getByRole('grid', { name: 'Tokens' })).toHaveAttribute('data-tokens', count ?? '')
    await expect(saved.getByRole('button', { name: 'Mask' })).toHaveAttribute('aria-pressed', 'true')
    await expect(token(saved)).toHaveAttribute('data-token', '195')
    await expect(saved.getByLabel('Find', { exact: true })).toHaveValue('calculator')
    await expect(saved.getByRole('heading', { level: 1 })).toHaveText(`${HOSTILE}title`)
    expect(await saved.title()).toBe(`${HOSTILE}title · Rollscope`)
    expect(await saved.locator('img').count()).toBe(0)
  })

  await test.step('keys, hits, colours and the pointer work in the offline page', async () => {
    const grid = saved.getByRole('grid', { name: 'Tokens' })
    await grid.focus()
    await saved.keyboard.press('ArrowRight')
    await expect(token(saved)).toHaveAttribute('data-token', '196')
    await saved.keyboard.press('n')
    await expect(token(saved)).not.toHaveAttribute('data-token', '196')
    await saved.getByRole('button', { name: 'Logprob', exact: true }).click()
    await expect(saved.getByText(/surprisal 0/)).toBeVisible()
    await grid.press('Escape')
    await saved
      .locator('.token-row')
      .first()
      .click({ position: { x: 20, y: 10 } })
    await expect(token(saved)).toBeVisible()
  })

  await expectFitEverywhere(saved, async (isNarrow) => {
    if (isNarrow) await expect(saved.getByRole('button', { name: 'Colours and find' })).toBeVisible()
  })
  expect(requests).toEqual([])
  expect(wrongs).toEqual([])

  await test.step('a script in the page cannot reach any server', async () => {
    await context.setOffline(false)
    expect(await attemptedExits(saved)).toEqual({
      reached: [],
      refused: [
        'connect-src',
        'form-action',
        'frame-src',
        'img-src',
        'markup',
        'require-trusted-types-for',
        'style-src-elem',
        'trusted types',
      ],
    })
  })

  await test.step('a damaged file shows an error', async () => {
    const damaged = test.info().outputPath('damaged.html')
    writeFileSync(damaged, readFileSync(file, 'utf8').replace(/(id="rollscope-document">")[^"]{40}/, '$1'))
    await saved.goto(pathToFileURL(damaged).href)
    await expect(saved.getByRole('alert')).toContainText('This page is damaged')
  })
  await context.close()
})

/** Tries each way to send data out of the page. Returns the requests that reached a server, and the directives that refused. */
async function attemptedExits(page: Page) {
  const reached: string[] = []
  const listener = createServer((request, response) => {
    reached.push(request.url ?? '')
    response.setHeader('access-control-allow-origin', '*').end()
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  const refused = await page.evaluate(async (address) => {
    const refusals: string[] = []
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => refusals.push(effectiveDirective))
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
      refusals.push('trusted types')
    }
    try {
      document.body.innerHTML = '<b>'
    } catch {
      refusals.push('markup')
    }
    while (refusals.length < 10) await new Promise((resolve) => setTimeout(resolve, 50))
    return refusals
  }, address)
  listener.close()
  return { reached, refused: [...new Set(refused)].sort() }
}
