'use client'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { titleText } from '#components/shell/trajectory-rows/row-texts.ts'
import { TrajectoryFacts } from '#components/shell/trajectory-rows/trajectory-choice.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { FilesButton, FolderButton } from '#components/ui/file-button.tsx'
import { EXAMPLES } from '#lib/browser/library/examples.ts'
import { latestTrajectoriesOptions } from '#lib/browser/library/library.ts'
import { Link } from '../navigation.tsx'
import { OpenUrl } from './open-url.tsx'

interface OpenDialogProps {
  readonly onFiles: (files: readonly File[]) => void
  /** Ends the opening before, and returns the controller of the next one. */
  readonly onOpening: () => AbortController
  readonly onClose: () => void
}

/** Lists files, examples and recent trajectories that can be opened. */
export function OpenDialog({ onFiles, onOpening, onClose }: OpenDialogProps) {
  const { data, isPending } = useQuery({ ...latestTrajectoriesOptions(20), refetchOnMount: 'always' })
  return (
    <Dialog title="Open a trajectory" onClose={onClose}>
      <div className="flex flex-wrap gap-2">
        <FilesButton look="primary" label="Trajectory files" onFiles={onFiles}>
          Choose files…
        </FilesButton>
        <FolderButton label="Folder of rollouts" onFiles={onFiles}>
          Choose a folder…
        </FolderButton>
      </div>
      <p className="mt-1.5 text-faint text-xs">
        or drop files and folders anywhere in the window, or paste a text here: JSON, JSON lines, Parquet, Arrow,
        SQLite, or an archive such as .eval, .zip or .gz
      </p>
      <OpenUrl onOpening={onOpening} onOpened={onClose} />
      <Heading>Examples</Heading>
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-0.5">
        {EXAMPLES.map(({ name, title, note }) => (
          <li key={name}>
            <Entry href={`/example/${name}`} title={title} note={note} onClose={onClose} />
          </li>
        ))}
      </ul>
      <Heading>Recent</Heading>
      {data?.trajectories.length === 0 && (
        <p className="text-faint text-xs">No trajectories yet. Run the agent once.</p>
      )}
      {isPending && <p className="text-faint text-xs">Loading…</p>}
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-0.5">
        {data?.trajectories.map((row) => (
          <li key={row.key}>
            <Entry
              href={`/t/${encodeURIComponent(row.key)}`}
              title={titleText(row)}
              note={<TrajectoryFacts row={row} />}
              onClose={onClose}
            />
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

interface EntryProps {
  readonly href: string
  readonly title: string
  readonly note: ReactNode
  readonly onClose: () => void
}

function Entry({ href, title, note, onClose }: EntryProps) {
  return (
    <Link href={href} onClick={onClose} className="block rounded-md px-2 py-1.5 hover:bg-accent-soft">
      <span dir="auto" className="block truncate">
        {title}
      </span>
      <span className="block text-faint text-xs [overflow-wrap:anywhere]">{note}</span>
    </Link>
  )
}
