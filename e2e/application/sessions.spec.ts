/** The page of sessions: the calls of a client appear as a forest, and a fork opens the compare page. */
import { randomUUID } from 'node:crypto'
import { expect, test } from '@playwright/test'
import { AUTHORIZED, open } from '../support/application.ts'
import { expectFitEverywhere } from '../support/fit.ts'

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

  await open(page, `/sessions?session=${id}`)
  const forest = page.getByRole('table', { name: 'Calls' })
  await expect(forest.getByRole('row')).toHaveCount(5)
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
})
