'use client'
/** The SGLang servers that may be called. */
import { useQuery } from '@tanstack/react-query'
import { serversOptions } from '#lib/client/queries.ts'
import { Shell } from './shell.tsx'
import { useSetup } from './use-setup.ts'

export function ServersScreen() {
  const [setup] = useSetup()
  const { data } = useQuery(serversOptions())
  return (
    <Shell title="Servers" server={setup.server} trajectory={undefined}>
      <main className="overflow-y-auto p-4">
        <ul className="grid gap-1">
          {data?.servers.map(({ name, baseUrl }) => (
            <li key={name}>
              {name} <span className="font-mono text-dim text-xs">{baseUrl}</span>
            </li>
          ))}
        </ul>
      </main>
    </Shell>
  )
}
