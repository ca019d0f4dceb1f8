import { KeyRound } from 'lucide-react'
import { ServerLight, type ShownStatus, stateText } from '#components/shell/server-state.tsx'
import type { ServerEntry } from '#lib/api/server-status.ts'
import { visibleText } from '../ui/visible-text.ts'

interface ServerListProps {
  readonly rows: readonly { readonly server: ServerEntry; readonly status: ShownStatus }[]
  /** Name of the server whose details are shown. */
  readonly selected: string | undefined
  /** Name of the server that the playground uses. */
  readonly used: string
  readonly onSelect: (name: string) => void
}

/** Lists the servers with their status. */
export function ServerList({ rows, selected, used, onSelect }: ServerListProps) {
  return (
    <ul className="grid grid-cols-[minmax(0,1fr)] gap-1">
      {rows.map(({ server: { name, baseUrl, hasKey }, status }) => (
        <li key={name}>
          <button
            type="button"
            aria-current={name === selected ? 'true' : undefined}
            onClick={() => onSelect(name)}
            className="block w-full rounded-md border border-transparent px-2.5 py-2 text-left hover:bg-raised aria-[current]:border-line-strong aria-[current]:bg-raised"
          >
            <span className="flex items-center gap-2">
              <ServerLight status={status} />
              <span className="min-w-0 truncate font-medium">{visibleText(name)}</span>
              {hasKey && <KeyRound size={13} aria-label="with a key" className="shrink-0 text-faint" />}
              <span className="ml-auto shrink-0 text-dim text-xs">{name === used ? 'in the playground' : ''}</span>
            </span>
            <span className="block truncate pl-4 font-mono text-faint text-xs">{baseUrl}</span>
            <span className={`block truncate pl-4 text-xs ${status.state === 'failed' ? 'text-bad' : 'text-dim'}`}>
              {stateText(status)}
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}
