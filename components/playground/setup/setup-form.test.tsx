import { render, screen } from '@testing-library/react'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import { DEFAULT_SETUP } from '#lib/share/settings/setup.ts'
import { MoreSettings } from './more-settings.tsx'
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
    note={undefined}
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

test('What the engine of the server cannot do is disabled, with the reason', () => {
  const capabilities = ENGINE_CAPABILITIES['llama.cpp']
  render(
    <MoreSettings
      setup={DEFAULT_SETUP}
      onChange={() => {}}
      errors={{}}
      status={{ state: 'ready', kind: 'server', latencyMs: 1, capabilities }}
      choices={{ parsers: ['hermes'], defaultParser: 'hermes' }}
      isFixed={false}
    />,
  )
  for (const name of ['Prompt logprobs', 'Live view', 'Routed experts']) {
    const box = screen.getByRole<HTMLInputElement>('checkbox', { name })
    expect(box.disabled).toBe(true)
    expect(document.getElementById(box.getAttribute('aria-describedby') ?? '')?.textContent).toMatch(/^llama\.cpp /)
  }
  expect(screen.getByRole<HTMLOptionElement>('option', { name: /chat baseline/ }).disabled).toBe(true)
})

test('More alternatives than vLLM returns are an error of their field, and everything that vLLM can do is enabled', () => {
  const capabilities = { ...ENGINE_CAPABILITIES.vllm, mostAlternatives: 20 }
  render(
    <MoreSettings
      setup={{ ...DEFAULT_SETUP, topLogprobs: '21' }}
      onChange={() => {}}
      errors={{}}
      status={{ state: 'ready', kind: 'server', latencyMs: 1, capabilities }}
      choices={{ parsers: ['hermes'], defaultParser: 'hermes' }}
      isFixed={false}
    />,
  )
  expect(screen.getByText(/^vLLM returns at most 20 alternatives for each token/)).toBeDefined()
  for (const name of ['Prompt logprobs', 'Live view'])
    expect(screen.getByRole<HTMLInputElement>('checkbox', { name }).disabled).toBe(false)
  expect(screen.getByRole<HTMLOptionElement>('option', { name: /chat baseline/ }).disabled).toBe(false)
})
