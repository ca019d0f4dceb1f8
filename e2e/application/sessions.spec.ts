/** The page of sessions: the calls of a client appear as a forest, and a fork opens the compare page. */
import { randomUUID } from 'node:crypto'
import { expect, test } from '@playwright/test'
import { AUTHORIZED, open } from '../support/application.ts'
import { expectFitEverywhere, ZOOMED } from '../support/fit.ts'

test('A session shows how each call attached, and a rollback opens beside the history that it cut', async ({
  page,
  request,
}) => {
  const id = `journey-${randomUUID().slice(0, 8)}`
  const post = async (path: string, data: unknown) => {
    const answer = await request.post(path, { headers: AUTHORIZED, data })
    expect(answer.status()).toBe(200)
    return answer.json()
  }
  await post('/sessions', { session_id: id })
  const send = async (...messages: readonly unknown[]): Promise<unknown> => {
    const body = { model: 'any', max_tokens: 8, temperature: 0, messages }
    const { choices } = await post(`/sessions/${id}/v1/chat/completions`, body)
    return choices[0].message
  }
  const user = (content: string) => ({ role: 'user', content })
  const question = user('What is 2 + 2?')
  const first = await send(question)
  const second = await send(question, first, user('And 3 + 4?'))
  await send(question, first, user('And 3 + 4?'), second, user('And 5 + 6?'))
  await send(question, first, user('Rather 7 + 8?'))

  const answered = Promise.withResolvers<void>()
  await page.route('**/api/sessions', async (route) => {
    await answered.promise
    await route.continue()
  })
  await open(page, `/sessions?session=${id}`)
  const create = page.getByRole('button', { name: 'New session' })
  const before = await create.boundingBox()
  answered.resolve()
  const forest = page.getByRole('table', { name: 'Calls' })
  await expect(forest.getByRole('row')).toHaveCount(5)
  expect(await create.boundingBox()).toEqual(before)
  await expect(forest.getByRole('row').last()).toContainText('rolled back')
  await expect(page.getByRole('table', { name: 'Sessions' }).getByText(id)).toBeVisible()
  await expect(page.getByText(/chat pipeline/).first()).toBeVisible()
  await expect(page.getByRole('grid', { name: 'Tokens' })).toHaveAttribute('data-idle', 'true')

  await forest.getByRole('button', { name: 'Call 4', exact: true }).focus()
  await page.keyboard.press('ArrowUp')
  await expect(forest.getByRole('button', { name: 'Call 3', exact: true })).toBeFocused()
  await expect(page.getByRole('heading', { name: 'Call 3' })).toBeVisible()
  await page.keyboard.press('ArrowDown')
  await expect(page.getByRole('heading', { name: 'Call 4' })).toBeVisible()
  await page.keyboard.press('c')
  await page.waitForURL('**/compare?*')
  await page.goBack()
  await expect(forest.getByRole('row')).toHaveCount(5)
  await expect(page.getByRole('grid', { name: 'Tokens' })).toHaveAttribute('data-idle', 'true')
  await expectFitEverywhere(page)
  await page.setViewportSize(ZOOMED)
  await expect(page.locator('[data-session]').first()).toBeInViewport()
  const calls = page.getByRole('region', { name: 'Forest' })
  await expect.poll(() => calls.evaluate((part) => part.clientHeight)).toBeGreaterThan(200)
  await page.setViewportSize({ width: 1000, height: 300 })
  await page.emulateMedia({ media: 'print' })
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollHeight)).toBeGreaterThan(400)
})

test('A running reply appears at its place as it is sampled, also at the end of an earlier call, and a refused call shows its reason and its request', async ({
  page,
  request,
}) => {
  const id = `journey-${randomUUID().slice(0, 8)}`
  const post = (path: string, data: unknown) => request.post(path, { headers: AUTHORIZED, data })
  expect((await post('/sessions', { session_id: id })).status()).toBe(200)
  const messages = [{ role: 'user', content: 'What is 2 + 2?' }]
  const send = (more: object) => post(`/sessions/${id}/v1/chat/completions`, { model: 'any', messages, ...more })
  const { choices } = await (await send({ max_tokens: 8 })).json()
  await open(page, `/sessions?session=${id}`)
  const forest = page.getByRole('table', { name: 'Calls' })
  const tokens = page.getByRole('grid', { name: 'Tokens' })
  await expect(tokens).toHaveAttribute('data-idle', 'true')

  // A shorter reply can end between two looks at the list.
  const running = send({ max_tokens: 2500, min_tokens: 2500 })
  await expect(forest.getByRole('row').last()).toContainText('retried same prompt as 1generating…')
  await expect(page.getByRole('heading', { name: 'Call 2' })).toBeVisible()
  await expect(tokens).toHaveAttribute('data-idle', 'false')
  expect((await running).status()).toBe(200)
  await expect(tokens).toHaveAttribute('data-idle', 'true')
  await expect(forest.getByRole('row').last()).toContainText(/\+ 2,?500/)
  await expect(page.getByRole('link', { name: 'Open in inspector' })).toBeVisible()

  expect((await send({ ebnf: 'root ::= "a"' })).status()).toBe(400)
  await expect(forest.getByRole('row').last()).toContainText('refused status 400')
  await expect(page.getByRole('heading', { name: 'Request' })).toBeVisible()
  await expect(page.getByText('"ebnf": "root')).toBeVisible()
  await forest.getByRole('button', { name: 'Call 3', exact: true }).focus()
  await page.keyboard.press('ArrowUp')
  await expect(page.getByRole('heading', { name: 'Call 2' })).toBeVisible()
  await page.keyboard.press('ArrowDown')
  await expect(page.getByRole('heading', { name: 'Request' })).toBeVisible()
  await expectFitEverywhere(page)

  await page.setViewportSize({ width: 1440, height: 900 })
  await forest.getByRole('button', { name: 'Call 1', exact: true }).click()
  await expect(tokens).toHaveAttribute('data-idle', 'true')
  const further = [...messages, choices[0].message, { role: 'user', content: 'And 3 + 4?' }]
  const continuing = send({ messages: further, max_tokens: 2500, min_tokens: 2500 })
  await expect(tokens).toHaveAttribute('data-idle', 'false')
  await expect(page.getByRole('heading', { name: 'Call 1' })).toBeVisible()
  expect((await continuing).status()).toBe(200)
  await expect(tokens).toHaveAttribute('data-idle', 'true')
})
