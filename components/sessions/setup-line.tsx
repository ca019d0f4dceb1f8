'use client'
import { useState } from 'react'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import { storedToken } from '#lib/browser/api.ts'
import { CLIENT_KINDS, type ClientKind, clientSetup } from './client-setup.ts'

interface SetupLineProps {
  /** May be auto. */
  readonly sessionId: string
  /** Text before the setting. Omitted: none. */
  readonly label?: string
}

/** Shows how a client is connected to a session: its variables, for one kind of client. */
export function SetupLine({ sessionId, label }: SetupLineProps) {
  const [kind, setKind] = useState<ClientKind>('openai')
  const text = clientSetup(kind, window.location.origin, sessionId)
  const key = storedToken()
  return (
    <div
      className={`flex min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1.5 ${label === undefined ? '' : 'xl:flex-nowrap'}`}
    >
      {label !== undefined && <span className="shrink-0 font-medium max-sm:hidden">{label}</span>}
      <span className="flex min-w-0 items-center gap-1.5 max-sm:w-full">
        <code
          className="min-w-0 truncate rounded-md border border-line bg-panel px-2 py-1.5 font-mono text-xs max-sm:flex-1"
          title={text}
        >
          {text}
        </code>
        <CopyButton text={text}>Copy</CopyButton>
      </span>
      <Segmented
        label="Kind of client"
        value={kind}
        onChange={setKind}
        options={CLIENT_KINDS.map(({ name, label }) => ({ value: name, text: label }))}
      />
      {key !== undefined && (
        <span className="flex shrink-0 items-center gap-1.5 text-dim text-xs">
          <span className="max-2xl:hidden">Key: the launch token.</span>
          <CopyButton text={key}>Copy key</CopyButton>
        </span>
      )}
    </div>
  )
}
