'use client'
/** Shows what became of each file that is opened together with others. */
import { memo, type ReactNode, useSyncExternalStore } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { HintText } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { FilesOpening, OpeningFile, OpeningState } from '#lib/browser/files/opened-files.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { Link } from '../navigation.tsx'

interface FilesDialogProps {
  readonly opening: FilesOpening
  /** Lists the samples of a large file. */
  readonly onList: (file: File) => void
  /** Closes the dialog, and ends the opening. */
  readonly onClose: () => void
}

/** Shows the files with their results, while they are opened and afterwards. */
export function FilesDialog({ opening, onList, onClose }: FilesDialogProps) {
  const { status, files, skipped } = useSyncExternalStore(opening.subscribe, opening.state, opening.state)
  const isEnded = status === 'finished' || status === 'cancelled'
  return (
    <Dialog title="Open files" width="wide" closesBeside={isEnded} onClose={onClose}>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2" data-opening={status}>
        <p role="status" aria-live={isEnded ? 'polite' : 'off'} className="min-w-0 flex-1 basis-64 font-medium">
          {summary({ status, files, skipped })}
        </p>
        {isEnded ? (
          <>
            {files.some(({ result }) => result.kind === 'stored') && (
              <Link href="/library" onClick={onClose} className="font-medium text-accent underline">
                Open library
              </Link>
            )}
            <Button data-first-focus onClick={onClose}>
              Close
            </Button>
          </>
        ) : (
          <Button data-first-focus onClick={opening.cancel}>
            Cancel
          </Button>
        )}
      </div>
      {files.length > 0 && (
        <progress
          className="mt-3 block h-1.5 w-full"
          aria-label="Opened files"
          value={files.filter(isDone).length}
          max={files.length}
        />
      )}
      <ul aria-label="Files" className="mt-3 grid grid-cols-[minmax(0,1fr)]">
        {/* Files that are dropped at once may have the same name, and their order stays the same. */}
        {Array.from(files.entries(), ([index, file]) => (
          <FileRow key={`file ${index}`} file={file} isEnded={isEnded} onList={onList} onClose={onClose} />
        ))}
        {Array.from(skipped.entries(), ([index, { path, reason }]) => (
          <Row key={`skipped ${index}`} path={path}>
            <span className="text-dim">Skipped: {visibleText(reason)}.</span>
          </Row>
        ))}
      </ul>
    </Dialog>
  )
}

const isDone = ({ result: { kind } }: OpeningFile): boolean => kind !== 'waiting' && kind !== 'reading'

/** Returns how far the opening is, or what became of the files. */
function summary({ status, files, skipped }: OpeningState): string {
  if (status === 'finding') return 'Finding the files…'
  if (status === 'opening')
    return `Opening ${countText(files.filter(isDone).length + 1)} of ${countText(files.length)}…`
  const countOf = (kind: OpeningFile['result']['kind']) => files.filter(({ result }) => result.kind === kind).length
  const parts = [
    `${countWithNoun(countOf('stored'), 'file')} opened`,
    countOf('large') > 0 && `${countText(countOf('large'))} to list`,
    countOf('failed') > 0 && `${countText(countOf('failed'))} not opened`,
    countOf('unread') > 0 && `${countText(countOf('unread'))} not read`,
    skipped.length > 0 && `${countText(skipped.length)} skipped`,
  ].filter((part) => part !== false)
  return `${status === 'cancelled' ? 'The opening was stopped: ' : ''}${parts.join(', ')}.`
}

interface FileRowProps {
  readonly file: OpeningFile
  /** Links lead away from the page, so they appear when all files are opened. */
  readonly isEnded: boolean
  readonly onList: (file: File) => void
  readonly onClose: () => void
}

const FileRow = memo(function FileRow({ file: { path, result }, isEnded, onList, onClose }: FileRowProps) {
  switch (result.kind) {
    case 'waiting':
      return (
        <Row path={path}>
          <span className="text-faint">Waiting</span>
        </Row>
      )
    case 'reading':
      return (
        <Row path={path}>
          <span className="text-dim">Opening…</span>
        </Row>
      )
    case 'unread':
      return (
        <Row path={path}>
          <span className="text-dim">Not read.</span>
        </Row>
      )
    case 'failed':
      return (
        <Row path={path} isBad>
          <span className="text-bad">Not opened: {visibleText(result.message)}</span>
          {result.hint !== undefined && (
            <span className="block text-dim">
              <HintText text={result.hint} />
            </span>
          )}
        </Row>
      )
    case 'large':
      return (
        <Row path={path}>
          <span className="text-dim">Large, with several records: not stored.</span>{' '}
          {isEnded && (
            <Button className="mt-1" onClick={() => onList(result.file)}>
              List samples
            </Button>
          )}
        </Row>
      )
    case 'stored': {
      const { trajectories, existing, failed } = result.imported
      const count = trajectories.length
      const words = countWithNoun(count, 'trajectory', 'trajectories')
      return (
        <Row path={path} isBad={failed.count > 0}>
          {isEnded ? (
            <Link
              href={`/t/${encodeURIComponent(trajectories[0])}${count > 1 ? `?opened=${count}` : ''}`}
              onClick={onClose}
              className="text-accent underline"
            >
              {words}
            </Link>
          ) : (
            words
          )}
          {existing > 0 && (
            <span className="text-dim">
              , {existing === count ? '' : `${countText(existing)} of them `}in the library before
            </span>
          )}
          {failed.count > 0 && (
            <details>
              <summary className="cursor-pointer text-bad">
                {countWithNoun(failed.count, 'record')} could not be read
                {failed.first.length < failed.count && `; the first ${failed.first.length}`}
              </summary>
              <ul className="grid gap-1 text-dim">
                {failed.first.map(({ message }) => (
                  <li key={message}>{visibleText(message)}</li>
                ))}
              </ul>
            </details>
          )}
        </Row>
      )
    }
  }
})

interface RowProps {
  readonly path: string
  readonly isBad?: boolean
  readonly children: ReactNode
}

/** A row that is not in view costs no layout, because a folder may have thousands of files. */
const Row = ({ path, isBad = false, children }: RowProps) => (
  <li
    data-bad={isBad || undefined}
    className="border-line border-b py-1.5 pl-2 [content-visibility:auto] [contain-intrinsic-size:auto_44px] [overflow-wrap:anywhere] data-bad:border-l-3 data-bad:border-l-bad"
  >
    <span className="block font-mono text-xs">{visibleText(path)}</span>
    <span className="block text-xs">{children}</span>
  </li>
)
