'use client'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { storedToken } from '#lib/browser/api.ts'
import { CLIENT_KINDS, clientSetup } from './client-setup.ts'

/** Shows how the first session begins: the setting of each kind of client, and a call that works without a network. */
export function EmptySessions() {
  const { origin } = window.location
  const example = [
    `curl ${origin}/sessions/auto/v1/chat/completions -H "Authorization: Bearer ${storedToken() ?? 'TOKEN'}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '{"model": "any", "max_tokens": 16, "messages": [{"role": "user", "content": "What is 2 + 2?"}]}'`,
  ].join('\n')
  return (
    <section aria-label="No sessions" className="mx-auto w-full max-w-3xl overflow-y-auto p-4 sm:p-8">
      <h2 className="font-semibold text-lg">No session yet</h2>
      <p className="mt-1 max-w-prose text-dim">
        A session records every call of an agent with its token ids. Change one setting of the client. Its key is the
        launch token.
      </p>
      <ul className="mt-5 grid grid-cols-[minmax(0,1fr)] gap-4">
        {CLIENT_KINDS.map(({ name, label, needs }) => (
          <li key={name}>
            <p className="mb-1 flex items-center gap-2">
              <span className="font-medium">{label}</span>
              <span className="text-dim text-xs">{needs}</span>
            </p>
            <Setting text={clientSetup(name, origin, 'auto')} />
          </li>
        ))}
      </ul>
      <Heading>Try it without a network</Heading>
      <p className="mb-2 text-dim">This call opens a session with the built-in model.</p>
      <Setting text={example} />
    </section>
  )
}

const Setting = ({ text }: { readonly text: string }) => (
  <div className="flex items-start gap-2">
    <pre className="min-w-0 flex-1 whitespace-pre-wrap rounded-md border border-line bg-panel px-2.5 py-1.5 font-mono text-xs [overflow-wrap:anywhere]">
      {text}
    </pre>
    <CopyButton text={text}>Copy</CopyButton>
  </div>
)
