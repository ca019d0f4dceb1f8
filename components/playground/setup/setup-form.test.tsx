import { render, screen } from '@testing-library/react'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { DEFAULT_SETUP } from '#lib/share/settings/setup.ts'
import { SetupForm } from './setup-form.tsx'

const form = (
  <SetupForm
    setup={DEFAULT_SETUP}
    onChange={() => {}}
    errors={{}}
    servers={[]}
    server=""
    status={{ state: 'asking' }}
    manageServers={null}
    mcpServers={null}
    choices={{ tools: [], parsers: ['hermes'], defaultParser: 'hermes' }}
    onAllSampling={() => {}}
    fixedNote={undefined}
  />
)

test('“More settings” shows its fields if it is opened before React hydrates the page', async () => {
  const container = document.body.appendChild(document.createElement('div'))
  container.innerHTML = renderToString(form)
  const details = screen.getByText('More settings').closest('details') as HTMLDetailsElement
  const toggled = new Promise((resolve) => details.addEventListener('toggle', resolve, { once: true }))
  details.open = true
  // The event comes later and must not reach React.
  await toggled
  expect(screen.queryByLabelText(/Prompt logprobs/)).toBeNull()
  render(form, { container, hydrate: true })
  expect(await screen.findByLabelText(/Prompt logprobs/)).toBeDefined()
})
