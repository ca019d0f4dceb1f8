import { QueryClient } from '@tanstack/react-query'
import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import { mcpServersOptions } from '#lib/browser/mcp-servers.ts'
import { DEFAULT_SETUP, type Setup } from '#lib/share/settings/setup.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { McpDialog } from './mcp-dialog.tsx'

let setup: Pick<Setup, 'tools' | 'mcpTools'>
function Dialog(begun: typeof setup) {
  const [chosen, setChosen] = useState(begun)
  setup = chosen
  return <McpDialog {...chosen} mockTools={DEFAULT_SETUP.mockTools} onChange={setChosen} onClose={() => {}} />
}

/** Opens the dialog with three tools of the server `files` and one of `web`; `removed` is the answer to the removal of a server. */
function open(removed: () => Response) {
  const server = (name: string) => ({
    name,
    source: 'saved' as const,
    place: { kind: 'http' as const, url: 'http://127.0.0.1:1/mcp' },
    hasKey: false,
  })
  vi.stubGlobal('fetch', async (path: string, { method }: RequestInit) =>
    method === 'DELETE' ? removed() : Response.json({ tools: [] }, { status: path.includes('/tools') ? 200 : 404 }),
  )
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Number.POSITIVE_INFINITY } } })
  client.setQueryData([...mcpServersOptions().queryKey], [server('files'), server('web')])
  const tools = ['read', 'write', 'list']
  render(
    <Dialog
      tools={['calculator', ...tools, 'search']}
      mcpTools={[...tools.map((name) => ({ mcp: 'files', name })), { mcp: 'web', name: 'search' }]}
    />,
    { wrapper: withQueries(client) },
  )
  return userEvent.setup()
}

const REMAINING = { tools: ['calculator', 'search'], mcpTools: [{ mcp: 'web', name: 'search' }] }

test('an MCP server that is removed takes all of its tools out of the setup', async () => {
  const user = open(() => new Response(null, { status: 204 }))
  await user.click(screen.getByRole('button', { name: 'Remove files' }))
  await expect.poll(() => setup).toEqual(REMAINING)
})

test('an MCP server that cannot be removed keeps its tools, and the dialog says why', async () => {
  const problem = { code: 'STORE_FAILED', detail: 'The list of servers cannot be written.', hint: 'Free some space.' }
  const user = open(() => Response.json(problem, { status: 507 }))
  await user.click(screen.getByRole('button', { name: 'Remove files' }))
  expect(await screen.findByText('The list of servers cannot be written.')).toBeTruthy()
  expect(setup.mcpTools).toHaveLength(4)
})
