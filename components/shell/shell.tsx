'use client'
/** The frame of every page: the header, the gate for the launch token, and opening a file by button or drop. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { usePathname } from 'next/navigation'
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import { ApiError, unreachableError } from '#lib/browser/api.ts'
import { loadWhenAnswered } from '#lib/browser/application.ts'
import type { Exports } from '#lib/browser/files/files.ts'
import type { FilesOpening } from '#lib/browser/files/opened-files.ts'
import type { DroppedFiles } from '#lib/browser/files/selected-files.ts'
import { useOpenedFile } from '#lib/browser/files/use-opened-file.ts'
import { hintOf } from '#lib/browser/hint-of.ts'
import { pageReader } from '#lib/browser/page-reader.ts'
import { serversOptions, TRAJECTORIES } from '#lib/browser/queries.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { lazyPart } from './lazy-part.tsx'
import { Link, useNavigation } from './navigation.tsx'
import { useFileDrop, useFilePaste } from './opening/use-file-drop.ts'
import { CONTENT_ID, helpHref, opensPasted, PAGES } from './pages.ts'
import { ServerLight, serverTitle } from './server-state.tsx'
import { type ShellActions, ShellContext, type TokensTarget } from './shell-actions.ts'
import { usePageKeys } from './use-page-keys.ts'
import { usePrepareInspector } from './use-prepare-inspector.ts'
import { useServerStatus } from './use-server-status.ts'

// Dialogs are loaded when they are opened, so that the first load is smaller.
const KeysDialog = lazyPart(async () => (await import('./keys-dialog.tsx')).KeysDialog)
const OpenDialog = lazyPart(async () => (await import('./opening/open-dialog.tsx')).OpenDialog)
const FilesDialog = lazyPart(async () => (await import('./opening/files-dialog.tsx')).FilesDialog)
const TokenGate = lazyPart(async () => (await import('./token-gate.tsx')).TokenGate)
const TrajectoryExport = lazyPart(async () => (await import('./trajectory-export.tsx')).TrajectoryExport)

interface ShellProps {
  /** Name of the page, its heading and the title of its tab. */
  readonly title: string
  /** Trajectory that Export writes; undefined if there is none yet. */
  readonly trajectory: TrajectoryView | undefined
  /** Key of the trajectory; if omitted, it is not stored. */
  readonly storedKey?: string | undefined
  /** Message above the page. */
  readonly notice?: ReactNode
  /** Name of the server in use; if omitted, the header shows the default server. */
  readonly server?: string
  /** Replaces Export on pages with more than one trajectory; undefined if there is nothing to export yet. */
  readonly onExport?: (() => void) | undefined
  /** Called with dropped files; returns true if the page takes them. Otherwise they are opened as trajectories. */
  readonly onFiles?: (files: readonly [File, ...File[]]) => boolean | Promise<boolean>
  readonly children: ReactNode
}

/** Delay in milliseconds before a file is reported as being read, since a message that flashes is useless. */
const REPORT_AFTER_MS = 300

/** Shows the header, the messages and the dialogs around a page. */
export function Shell({ title, trajectory, storedKey, notice, server = '', onExport, onFiles, children }: ShellProps) {
  const { go, application, waiting, stay } = useNavigation()
  const openedFile = useOpenedFile()
  const [isOpening, setIsOpening] = useState(false)
  const [areKeysOpen, setAreKeysOpen] = useState(false)
  const [exports, setExports] = useState<Exports>()
  const [tokens, setTokens] = useState<TokensTarget>()
  /** The files that are opened at once, if they are several. */
  const [opening, setOpening] = useState<FilesOpening>()
  const path = usePathname()
  const help = helpHref(path)
  const cache = useQueryClient()
  const [problem, setProblem] = useState<{ readonly title: string; readonly hint?: string | undefined }>()
  /** Name of the file that is being read. */
  const [reading, setReading] = useState<string>()
  const lastOpening = useRef<AbortController>(undefined)
  const { error } = useQuery(serversOptions())
  const fail = (reason: unknown) => {
    if (!(reason instanceof Error)) throw reason
    setProblem({ title: reason.message, hint: hintOf(reason) })
  }
  /** Ends the opening before, and returns the controller of a new one. */
  const beginOpening = () => {
    const opening = new AbortController()
    lastOpening.current?.abort()
    lastOpening.current = opening
    setProblem(undefined)
    setReading(undefined)
    return opening
  }
  /** Opens a file, and shows its name while it is read. */
  const open = async (file: File) => {
    const opening = beginOpening()
    setIsOpening(false)
    const reporting = setTimeout(() => setReading(file.name), REPORT_AFTER_MS)
    try {
      const { openUserFile } = await loadWhenAnswered(() => import('./opening/open-file.ts'))
      await go(await openUserFile(openedFile, file, opening.signal))
    } catch (reason) {
      if (!opening.signal.aborted) fail(reason)
    } finally {
      clearTimeout(reporting)
      if (!opening.signal.aborted) setReading(undefined)
    }
  }
  /** Opens one file as a trajectory, and several with a list of what became of each. */
  const openAll = async (dropped: DroppedFiles) => {
    const [first, ...others] = dropped.files
    if (first && others.length === 0 && dropped.entries.length === 0) return open(first)
    const { openFiles } = await loadWhenAnswered(() => import('#lib/browser/files/opened-files.ts'))
    setIsOpening(false)
    const started = openFiles(dropped)
    setOpening(started)
    await started.ended
    await cache.invalidateQueries({ queryKey: TRAJECTORIES })
  }
  const drop = async (dropped: DroppedFiles) => {
    if (onFiles) {
      const { filesIn } = await loadWhenAnswered(() => import('#lib/browser/files/selected-files.ts'))
      const [first, ...others] = await filesIn(dropped)
      if (first && (await onFiles([first, ...others]))) return
    }
    await openAll(dropped)
  }
  const isDropping = useFileDrop(drop)
  useFilePaste(isOpening || opensPasted(path), openAll)
  const isExpecting = isOpening || isDropping
  const prepareInspector = useEffectEvent(usePrepareInspector())
  useEffect(() => {
    if (!isExpecting) return
    pageReader.prepare()
    prepareInspector('/open')
  }, [isExpecting])
  const closeExports = exports?.close
  useEffect(() => closeExports, [closeExports])
  usePageKeys(({ key }) => {
    if (key === '?') setAreKeysOpen(true)
  })
  const actions: ShellActions = {
    openFile: () => setIsOpening(true),
    exportFile:
      trajectory && trajectory.segments.length > 0
        ? async () => {
            const { exportsOf } = await loadWhenAnswered(() => import('#lib/browser/files/files.ts'))
            const onChoices = (choices: Exports['choices']) => setExports((known) => known && { ...known, choices })
            setExports(await exportsOf(trajectory, onChoices, fail, { storedKey }))
          }
        : onExport,
    showKeys: () => setAreKeysOpen(true),
    showHelp: () => window.open(help, '_blank', 'noopener'),
    onTokens: setTokens,
  }
  return (
    <div className="grid h-dvh grid-rows-[auto_auto_minmax(0,1fr)] print:h-auto">
      {/* Titles of Next’s metadata are streamed after their page, so a change of pages would show none for a moment. */}
      <title>{`${title} · Rollscope`}</title>
      <div>
        <SkipLink tokens={tokens} />
        <Header title={title} server={server} help={help} onOpen={actions.openFile} onExport={actions.exportFile} />
      </div>
      <div id={CONTENT_ID} tabIndex={-1}>
        {application !== 'answers' && <NoAnswer isSlow={application === 'slow'} waiting={waiting} onStay={stay} />}
        {problem && (
          <Banner tone="bad" title={problem.title} hint={problem.hint}>
            <Button onClick={() => setProblem(undefined)}>Dismiss</Button>
          </Banner>
        )}
        {error instanceof ApiError && error.status >= 500 && (
          <Banner tone="bad" title={error.message} hint={error.hint} />
        )}
        {reading !== undefined && <Banner tone="note" title={`Reading ${reading}…`} />}
        {notice}
      </div>
      {error instanceof ApiError && error.status === 401 ? (
        <TokenGate />
      ) : (
        <ShellContext value={actions}>{children}</ShellContext>
      )}
      {areKeysOpen && <KeysDialog onClose={() => setAreKeysOpen(false)} />}
      {exports && (
        <TrajectoryExport
          choices={exports.choices}
          trajectory={trajectory}
          storedKey={storedKey}
          tokens={tokens}
          onClose={() => setExports(undefined)}
          onError={fail}
        />
      )}
      {isOpening && (
        <OpenDialog
          onFiles={(files) => openAll({ files, entries: [] })}
          onOpening={beginOpening}
          onClose={() => setIsOpening(false)}
        />
      )}
      {opening && (
        <FilesDialog
          opening={opening}
          onList={(file) => {
            setOpening(undefined)
            return open(file)
          }}
          onClose={() => {
            opening.cancel()
            setOpening(undefined)
          }}
        />
      )}
      {isDropping && (
        <div
          className="pointer-events-none fixed inset-3 z-10 grid place-items-center rounded-xl border-2 border-accent border-dashed bg-ground/85 font-medium text-lg"
          role="status"
        >
          Drop to open the files
        </div>
      )}
    </div>
  )
}

/** Shows the first stop of the Tab key, which skips the header; it is visible while it has the focus. */
const SkipLink = ({ tokens }: { readonly tokens: TokensTarget | undefined }) => (
  <a
    href={`#${CONTENT_ID}`}
    className="sr-only focus:not-sr-only focus:absolute focus:top-1.5 focus:left-2 focus:z-20 focus:rounded-md focus:bg-ink focus:px-3 focus:py-2 focus:font-medium focus:text-ground"
    onClick={(event) => {
      // The address does not change, since it describes the view.
      event.preventDefault()
      if (tokens) tokens.focus()
      else document.getElementById(CONTENT_ID)?.focus()
    }}
  >
    {tokens ? 'Skip to the tokens' : 'Skip to the content'}
  </a>
)

/** Reports that the application is slow or does not respond; the page can still be read, copied and saved. */
function NoAnswer({
  isSlow,
  waiting,
  onStay,
}: {
  readonly isSlow: boolean
  readonly waiting: string | undefined
  readonly onStay: () => void
}) {
  const page = PAGES.find(({ href }) => href === waiting)?.label ?? 'The requested page'
  return (
    <Banner
      tone={isSlow ? 'note' : 'bad'}
      title={
        isSlow
          ? 'The application is slow to respond. Waiting…'
          : 'The application does not respond. Trying again every second…'
      }
      hint={`${isSlow ? 'It is busy.' : unreachableError().hint} This page does not change.${
        waiting === undefined ? '' : ` ${page} opens when it responds again.`
      }`}
    >
      {waiting !== undefined && <Button onClick={onStay}>Stay on this page</Button>}
    </Banner>
  )
}

interface HeaderProps {
  readonly title: string
  readonly server: string
  /** Address of the documentation of this page. */
  readonly help: string
  readonly onOpen: () => void
  readonly onExport: (() => void) | undefined
}

/** The pages that the header lists. */
const LISTED = PAGES.filter(({ label }) => label !== undefined)

function Header({ title, server, help, onOpen, onExport }: HeaderProps) {
  const path = usePathname()
  const { name, status, servers } = useServerStatus(server)
  const entry = servers.find((one) => one.name === name)
  return (
    <header className="flex items-center gap-x-4 border-line border-b px-3.5 max-nav:flex-wrap">
      <Link href="/" className="py-3 font-semibold text-[15px]">
        Rollscope
      </Link>
      <h1 className="sr-only">{title}</h1>
      <nav
        aria-label="Pages"
        className="flex shrink-0 gap-4 overflow-x-auto max-nav:-mx-3.5 max-nav:order-last max-nav:w-screen max-nav:border-line max-nav:border-t max-nav:px-3.5 max-sm:justify-between max-sm:gap-1 max-sm:text-xs"
      >
        {LISTED.map(({ href, label }) => (
          <Link
            key={href}
            href={href}
            aria-current={path === href || path.startsWith(`${href}/`) ? 'page' : undefined}
            className="py-2 text-dim hover:text-ink focus-visible:-outline-offset-2 aria-[current=page]:font-semibold aria-[current=page]:text-ink"
          >
            {label}
          </Link>
        ))}
        <a
          href={help}
          target="_blank"
          rel="noopener"
          aria-current={path.startsWith('/docs') ? 'page' : undefined}
          title="The documentation of this page, in a new tab"
          className="py-2 text-dim hover:text-ink focus-visible:-outline-offset-2 aria-[current=page]:font-semibold aria-[current=page]:text-ink"
        >
          Help
        </a>
      </nav>
      <Link
        href={name === '' ? '/servers' : `/servers?server=${encodeURIComponent(name)}`}
        className="ml-auto flex min-h-8 min-w-0 items-center gap-2 text-dim text-xs hover:text-ink max-nav:flex-1 max-nav:justify-end"
        title={visibleText(serverTitle(entry, status))}
      >
        <ServerLight status={status} />
        <span className="truncate">
          {visibleText(name)}
          {status.state === 'ready' && status.modelName !== undefined && ` · ${visibleText(status.modelName)}`}
          {status.state === 'starting' && ' · starting…'}
          {status.state === 'failed' && (name === '' ? 'No server' : ' · not usable')}
        </span>
      </Link>
      <span className="flex gap-2">
        <Button onClick={onOpen}>Open</Button>
        <Button onClick={onExport} disabled={onExport === undefined}>
          Export
        </Button>
      </span>
    </header>
  )
}
