'use client'
import { useState } from 'react'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import { storedToken } from '#lib/browser/api.ts'
import { CLIENT_KINDS, type ClientKind, clientSetup } from './client-setup.ts'

/** Shows how a client is connected to a session: its variables, for one kind of client. `sessionId` may be auto. */
export function SetupLine({ sessionId }: { readonly sessionId: string }) {
  const [kind, setKind] = useState<ClientKind>('openai')
  const text = clientSetup(kind, window.location.origin, sessionId)
  const key = storedToken()
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1.5">
      <span className="font-medium">Point any client here</span>
      <code
        className="min-w-0 truncate rounded-md border border-line bg-panel px-2 py-1 font-mono text-xs max-lg:w-full"
        title={text}
      >
        {text}
      </code>
      <CopyButton text={text}>Copy</CopyButton>
      <Segmented
        label="Kind of client"
        value={kind}
        onChange={setKind}
        options={CLIENT_KINDS.map(({ name, label }) => ({ value: name, text: label }))}
      />
      {key !== undefined && (
        <span className="flex items-center gap-2 text-dim text-xs">
          Key: the launch token. <CopyButton text={key}>Copy key</CopyButton>
        </span>
      )}
    </div>
  )
}
