/** Compares a database of the OpenAI Agents SDK with the items that its sessions return (lib/formats/golden/writers/make_agents_sessions.py). */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { memoryTools, type UnpackTools } from '#lib/formats/containers/container.ts'
import { agentsSession } from '#lib/formats/conversations/agents-session.ts'
import { openFile } from '#lib/formats/reading/open.ts'
import { refusalOf, trajectoriesOf } from '#lib/formats/test-trajectories.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { messagesOfItems } from '#lib/trajectory/messages/response-items.ts'
import { folderOfFile } from '#testing/files/folders.ts'
import { source } from '#testing/trajectories.ts'
import { sqliteTablesIn } from './sqlite-tables.ts'

const golden = JSON.parse(readFileSync('lib/formats/golden/agents-sessions.json', 'utf8')) as Readonly<
  Record<string, readonly object[]>
>
const tools: UnpackTools = { ...memoryTools, sqlite: sqliteTablesIn(folderOfFile()) }

test('The sessions of a database are trajectories with their messages, calls and results in order', async () => {
  const bytes = readFileSync('lib/formats/golden/foreign/agents-sessions.sqlite')
  const read = async (start: number, end: number) => bytes.subarray(start, end)
  const opened = await Array.fromAsync(openFile({ size: bytes.length, read }, source, { tools }))
  const trajectories = opened.map((one) => (one.ok ? one.trajectory : expect.fail(one.error.message)))
  expect(trajectories.map(({ title }) => title).sort()).toEqual(Object.keys(golden).sort())
  for (const trajectory of trajectories) {
    const items = golden[trajectory.title ?? ''] ?? []
    expect(conversation(trajectory).map(({ role }) => role)).toEqual(
      messagesOfItems(items).map(({ message }) => (message as { readonly role: string }).role),
    )
    expect(trajectory).toMatchObject({ createdAt: '2026-11-30T01:00:00.000Z', outcome: { reason: 'end_turn' } })
  }
  expect(conversation(trajectories.find(({ title }) => title === 'math') ?? expect.fail('no session'))).toMatchObject([
    { content: 'What is 25 * 17?' },
    { reasoning: 'A product is needed.', toolCalls: [{ name: 'calculator', input: { expression: '25 * 17' } }] },
    { content: '425' },
    { content: '25 * 17 is 425.' },
  ])
})

const row = (id: number, session_id: string, message_data: object, created_at = '') => ({
  id,
  session_id,
  message_data,
  created_at,
})

test('Sessions that take turns are kept apart, and a wrong item is named by its row', () => {
  const user = (content: string) => ({ role: 'user', content })
  const rows = [row(1, 'a', user('1')), row(2, 'b', user('2')), row(3, 'a', { role: 'nobody', content: '' })]
  expect(refusalOf(agentsSession, rows)).toMatchObject({ path: '[2].message_data.role', found: '"nobody"' })
  expect(trajectoriesOf(agentsSession, rows.slice(0, 2)).map((one) => conversation(one).length)).toEqual([1, 1])
  expect([7, { session_id: 'a', message_data: 'x' }].map(agentsSession.sniff)).toEqual([false, false])
})
