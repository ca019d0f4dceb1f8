import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test } from 'vitest'
import { serverStatusOptions } from '#lib/browser/queries.ts'
import { FurtherServers } from './further-servers.tsx'

const SERVERS = [{ name: 'built-in' }, { name: 'vllm' }, { name: 'llama' }]

function Form({ first = [] }: { readonly first?: readonly string[] }) {
  const [chosen, setChosen] = useState(first)
  const [client] = useState(() => {
    const made = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
    made.setQueryData([...serverStatusOptions('vllm').queryKey], {
      state: 'failed',
      code: 'CONNECT_REFUSED',
      message: 'Nothing listens there.',
    })
    return made
  })
  return (
    <QueryClientProvider client={client}>
      <FurtherServers servers={SERVERS} server="built-in" chosen={chosen} onChange={setChosen} />
      <output>{chosen.join()}</output>
    </QueryClientProvider>
  )
}

test('other servers are chosen by keyboard, and the state of a chosen one is shown', async () => {
  render(<Form />)
  const user = userEvent.setup()
  await user.click(screen.getByText('Run on other servers too'))
  expect(screen.getAllByRole('checkbox')).toHaveLength(2)
  screen.getByRole('checkbox', { name: 'vllm' }).focus()
  await user.keyboard(' ')
  expect(screen.getByText('Nothing listens there.')).toBeTruthy()
  expect(screen.getByText('Runs on 2 servers at once')).toBeTruthy()
  await user.tab()
  await user.keyboard(' ')
  expect(document.querySelector('output')?.textContent).toBe('vllm,llama')
  await user.click(screen.getByRole('checkbox', { name: 'vllm' }))
  expect(document.querySelector('output')?.textContent).toBe('llama')
})

test('a chosen server that was removed is listed as missing, and can be left out', async () => {
  render(<Form first={['gone']} />)
  await userEvent.click(screen.getByRole('checkbox', { name: 'gone', description: 'missing' }))
  expect(screen.queryByText('gone')).toBeNull()
  expect(screen.getByText('Run on other servers too')).toBeTruthy()
})
