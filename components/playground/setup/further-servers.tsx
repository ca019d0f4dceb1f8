'use client'
/** Chooses the servers that run a prompt beside the main one. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ServerLight, statusText } from '#components/shell/server-state.tsx'
import { displayedStatus } from '#components/shell/use-server-status.ts'
import { CheckField } from '#components/ui/field.tsx'
import { serverStatusOptions } from '#lib/browser/queries.ts'

interface FurtherServersProps {
  readonly servers: readonly { readonly name: string }[]
  /** Name of the main server, which is not listed. */
  readonly server: string
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}

/** A checkbox for each other server, and the state of the chosen ones. */
export function FurtherServers({ servers, server, chosen, onChange }: FurtherServersProps) {
  const [isOpen, setIsOpen] = useState(chosen.length > 0)
  const known = servers.map(({ name }) => name)
  const missing = chosen.filter((name) => !known.includes(name))
  const others = [...known.filter((name) => name !== server), ...missing]
  return (
    <details
      className="mt-1.5 text-xs"
      open={isOpen}
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
      data-further-servers={chosen.length}
    >
      <summary className="cursor-pointer text-dim hover:text-ink">
        {chosen.length === 0 ? 'Run on other servers too' : `Runs on ${chosen.length + 1} servers at once`}
      </summary>
      <fieldset className="mt-1 grid gap-0.5">
        <legend className="sr-only">Other servers that run the first prompt</legend>
        {others.map((name) => (
          <div key={name}>
            <CheckField
              label={name}
              note={missing.includes(name) ? 'missing' : undefined}
              checked={chosen.includes(name)}
              onChange={({ target }) =>
                onChange(target.checked ? [...chosen, name] : chosen.filter((other) => other !== name))
              }
            />
            {chosen.includes(name) && !missing.includes(name) && <ServerState name={name} />}
          </div>
        ))}
      </fieldset>
      <p className="mt-1 text-faint">
        The first prompt runs on each. A server that cannot take a setting is left out with the reason.
      </p>
    </details>
  )
}

function ServerState({ name }: { readonly name: string }) {
  const status = displayedStatus(useQuery(serverStatusOptions(name)))
  return (
    <p
      role="status"
      className={`ml-6 flex items-baseline gap-1.5 ${status.state === 'failed' ? 'text-bad' : 'text-dim'}`}
    >
      <ServerLight status={status} />
      <span className="[overflow-wrap:anywhere]">{statusText(status)}</span>
    </p>
  )
}
