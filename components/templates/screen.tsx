'use client'
/** The template lab: a template, a conversation and a tokenizer on the left, their result on the right. */
import { useQuery } from '@tanstack/react-query'
import { History, Redo2, Share2, Undo2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { type KeyboardEvent, useEffect, useEffectEvent, useState } from 'react'
import { useSharing } from '#components/sharing/use-sharing.ts'
import { Shell } from '#components/shell/shell.tsx'
import { useServerStatus } from '#components/shell/use-server-status.ts'
import type { ShownLine } from '#components/templates/editor/code-editor.tsx'
import { DocumentEditor } from '#components/templates/editor/document-editor.tsx'
import { TaskBanner } from '#components/templates/editor/failure-banner.tsx'
import { type LabPane, LabPanes } from '#components/templates/editor/lab-panes.tsx'
import { MarkerBanner } from '#components/templates/editor/marker-banner.tsx'
import { ProblemBar } from '#components/templates/editor/problem-bar.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import { ApiError } from '#lib/browser/api.ts'
import { tokenizerNamesOptions, trajectoryOptions } from '#lib/browser/queries.ts'
import { askJudge } from '#lib/browser/templates/template-check.ts'
import { BUILT_IN, loadFile } from '#lib/browser/templates/template-sources.ts'
import { useLabDocument } from '#lib/browser/templates/use-lab-document.ts'
import { useSetup } from '#lib/browser/use-setup.ts'
import { useLab } from '#lib/browser/workers/lab.ts'
import type { Checked } from '#lib/templates/document/check.ts'
import {
  changedPart,
  comparedRevision,
  inputOf,
  type LabAction,
  type LabDocument,
  type LabField,
  type LabHistory,
  type Loaded,
  revisionName,
} from '#lib/templates/document/document.ts'
import type { InputError } from '#lib/templates/document/input.ts'
import type { SharedDocument } from '#lib/templates/document/shared-document.ts'
import { isLabFile, isSharedDocument } from '#lib/templates/document/template-files.ts'
import { suggestedTokenizers } from '#lib/templates/document/tokenizer-suggestions.ts'
import { isFollowed, LAB_PARTS, type LabForm, type LabPart, useLabAddress } from './address.ts'
import { LAB_TABS } from './tabs.tsx'
import { useLabOpening } from './use-lab-opening.ts'
import { useTask } from './use-task.ts'

const RevisionsDialog = dynamic(
  async () => (await import('#components/templates/compare/revisions-dialog.tsx')).RevisionsDialog,
)
const LabLoadDialog = dynamic(async () => (await import('./load-dialog.tsx')).LabLoadDialog, {
  loading: () => null,
})
const LabTokenizerDialog = dynamic(async () => (await import('./lab-tokenizer-dialog.tsx')).LabTokenizerDialog, {
  loading: () => null,
})

const LabSharing = dynamic(async () => (await import('#components/sharing/lab-sharing.tsx')).LabSharing, {
  loading: () => null,
})

const PART_NAMES = { template: 'Template', messages: 'Messages', tools: 'Tools', options: 'Options' } as const

/** The page of the template lab. */
export function TemplatesScreen() {
  const { state, lab } = useLabDocument()
  const address = useLabAddress()
  const { opening, dismiss } = useLabOpening(lab, state.kind, address.linked)
  const [problem, setProblem] = useState<ApiError>()
  const history = state.kind === 'open' && opening.kind !== 'opening' ? state.history : undefined
  const refused = problem ?? (opening.kind === 'refused' ? opening.error : undefined)
  const [sharedFile, setSharedFile] = useState<File>()
  const open = async (file: File) => {
    setProblem(undefined)
    if (isSharedDocument(await file.slice(0, SNIFFED_BYTES).text())) return setSharedFile(file)
    try {
      lab?.apply({ type: 'loaded', loaded: await loadFile(file, history?.now.tools.trim() !== '') })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setProblem(error)
    }
  }
  return (
    <Shell
      title="Template lab"
      trajectory={undefined}
      onFiles={async ([file]) => {
        if (!isLabFile(file.name) && !isSharedDocument(await file.slice(0, SNIFFED_BYTES).text())) return false
        void open(file)
        return true
      }}
    >
      <div className="grid min-h-0 grid-rows-[auto_minmax(0,1fr)]">
        <div>
          {refused && (
            <Banner tone="bad" title={refused.message} hint={refused.hint}>
              <Button
                onClick={() => {
                  setProblem(undefined)
                  dismiss()
                }}
              >
                Dismiss
              </Button>
            </Banner>
          )}
          {state.kind === 'open' && state.saved === 'failed' && (
            <Banner
              tone="bad"
              title="This browser cannot store the document: reloading the page loses it."
              hint="Its storage is full or switched off, as in some private windows. Copy the template before you leave."
            />
          )}
          {state.kind === 'open' && state.other && (
            <Banner
              tone="note"
              title="Another window has changed this document."
              hint="Changes in this window are no longer stored. Nothing is lost: the document that you do not use stays under Load…, Earlier."
            >
              <Button onClick={() => lab?.choose('other')}>Use the other document</Button>
              <Button onClick={() => lab?.choose('own')}>Keep this document</Button>
            </Banner>
          )}
        </div>
        {history && lab ? (
          <OpenLab
            history={history}
            address={address}
            isSaved={state.kind === 'open' && state.saved === 'saved'}
            onAction={(action) => lab.apply(action)}
            onFile={open}
            onKeep={() => lab.keepEarlier()}
            sharedFile={sharedFile}
            onSharedFile={() => setSharedFile(undefined)}
          />
        ) : (
          <p className="p-6 text-faint" role="status">
            {refused ? 'There is no document yet. Reload the page to try again.' : 'Opening the lab…'}
          </p>
        )}
      </div>
    </Shell>
  )
}

interface OpenLabProps {
  readonly history: LabHistory
  readonly address: ReturnType<typeof useLabAddress>
  readonly isSaved: boolean
  readonly onAction: (action: LabAction) => LabHistory | undefined
  readonly onFile: (file: File) => void
  /** Stores the document among the earlier ones before another one replaces it. */
  readonly onKeep: () => Promise<void>
  /** A file with a shared document that was dropped or chosen. */
  readonly sharedFile: File | undefined
  /** Called when the shared document was opened or dismissed. */
  readonly onSharedFile: () => void
}

/** Assumed match of template and tokenizer before the first check. */
const UNKNOWN_FIT: Extract<Checked, { ok: true }> = { ok: true, markers: [], plainMarkers: [] }

/** Bytes of a file that show whether it is a shared document. */
const SNIFFED_BYTES = 200

/** Pause in typing before the document is checked, in milliseconds. */
const PAUSE_MS = 60

type OpenDialog =
  | 'revisions'
  | 'load'
  /** Dialog of the tokenizer with an initial name. */
  | { readonly tokenizer: string }

function OpenLab(props: OpenLabProps) {
  const { history, address, isSaved, onAction, onFile, onKeep, sharedFile, onSharedFile } = props
  const { now, past, future } = history
  const input = inputOf(now)
  const { run } = useLab()
  const [setup] = useSetup()
  const { name: server } = useServerStatus(setup.server)
  const { data: trajectory } = useQuery(trajectoryOptions(now.trajectory))
  const [pane, setPane] = useState<LabPane>('editor')
  const [dialog, setDialog] = useState<OpenDialog>()
  const [shownLine, setShownLine] = useState<ShownLine & { readonly where: LabField }>()
  const [cursorLine, setCursorLine] = useState<number>()
  const check = useTask(run, 'check', input, { tokenizers: [now.tokenizer], pauseMs: PAUSE_MS })
  const [error, setError] = useState<InputError>()
  // During a new check, the last answer stays.
  const told = check.kind === 'done' ? (check.result.ok ? undefined : check.result.error) : error
  if (told !== error) setError(told)
  const [fit, setFit] = useState(UNKNOWN_FIT)
  if (check.kind === 'done' && check.result.ok && check.result !== fit) setFit(check.result)
  const { data: local = [] } = useQuery(tokenizerNamesOptions())
  const { part } = address

  const follow = useEffectEvent((document: LabDocument) => address.follow(document))
  const isBehind = !isFollowed(address.linked, now)
  useEffect(() => {
    if (isBehind) follow(now)
  }, [isBehind, now])

  const showPart = (shown: LabPart) => {
    setShownLine(undefined)
    setCursorLine(undefined)
    address.show({ part: shown })
  }
  const showLine = (where: LabField, line: number) => {
    setPane('editor')
    address.show({ part: where, ...(where !== 'template' && { as: 'json' as const }) })
    setShownLine({ where, line })
  }
  const travel = (type: 'undone' | 'redone') => {
    const changed = onAction({ type })
    const field = changed && changedPart(now, changed.now)
    if (field !== undefined && field !== 'tokenizer' && field !== part) showPart(field)
  }
  const load = (loaded: Loaded) => {
    setDialog(undefined)
    onAction({ type: 'loaded', loaded })
    showPart(loaded.template === undefined ? 'messages' : 'template')
  }
  const [sharing, share, endSharing] = useSharing('lab')
  const openShared = async (shared: SharedDocument, all: readonly Loaded[]) => {
    await onKeep()
    const numbers = all.map((loaded) => onAction({ type: 'loaded', loaded })?.now.shown)
    setShownLine(undefined)
    setCursorLine(undefined)
    endSharing()
    onSharedFile()
    address.showShared(shared.view, shared.against && numbers[0])
    if (shared.view.tab !== undefined) setPane('result')
  }
  const tab = LAB_TABS.find(({ name }) => name === address.tab) ?? LAB_TABS[0]
  return (
    <>
      <LabPanes
        shown={pane}
        onShow={setPane}
        editor={
          // biome-ignore lint/a11y/noStaticElementInteractions: one history for all fields replaces their own undo
          <div
            className="grid h-full grid-rows-[auto_auto_minmax(0,1fr)_auto]"
            data-saved={isSaved}
            onKeyDown={(event) => {
              const type = historyKey(event)
              if (!type) return
              event.preventDefault()
              travel(type)
            }}
          >
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-line border-b px-3 py-1.5">
              <Segmented<LabPart>
                label="Part"
                value={part}
                onChange={showPart}
                options={LAB_PARTS.map((value) => ({ value, text: PART_NAMES[value] }))}
              />
              {part !== 'template' && (
                <span className="ml-auto">
                  <Segmented<LabForm>
                    label="Edit as"
                    value={address.as}
                    onChange={(as) => address.show({ as })}
                    options={[
                      { value: 'form', text: 'Form' },
                      { value: 'json', text: 'JSON' },
                    ]}
                  />
                </span>
              )}
            </div>
            <div className="flex min-w-0 items-center gap-2 border-line border-b px-3 py-1.5">
              <Button onClick={() => setDialog('load')}>Load…</Button>
              <IconButton label="Share this document" onClick={share}>
                <Share2 size={15} aria-hidden />
              </IconButton>
              <Button
                className="min-w-0 shrink"
                aria-label={`Tokenizer ${now.tokenizer}: choose another`}
                onClick={() => setDialog({ tokenizer: now.tokenizer })}
              >
                <span className="text-dim max-sm:sr-only">Tokenizer</span>{' '}
                <span className="truncate">{now.tokenizer}</span>
              </Button>
              <span className="ml-auto flex min-w-0 shrink items-center gap-0.5">
                <select
                  aria-label="Revision"
                  className="field-sizing-content min-h-7 min-w-0 max-w-60 shrink truncate rounded-md border border-transparent bg-ground px-1.5 text-dim hover:border-line-strong"
                  value={now.shown}
                  onChange={(event) => onAction({ type: 'shown', number: Number(event.target.value) })}
                >
                  {now.revisions.toReversed().map(({ number, name }) => (
                    <option key={number} value={number}>
                      {revisionName({ number, name })}
                    </option>
                  ))}
                </select>
                <IconButton label="Revisions: compare, rename, delete" onClick={() => setDialog('revisions')}>
                  <History size={15} aria-hidden />
                </IconButton>
                <IconButton label="Undo" disabled={past.length === 0} onClick={() => travel('undone')}>
                  <Undo2 size={15} aria-hidden />
                </IconButton>
                <IconButton label="Redo" disabled={future.length === 0} onClick={() => travel('redone')}>
                  <Redo2 size={15} aria-hidden />
                </IconButton>
              </span>
            </div>
            <DocumentEditor
              input={input}
              part={part}
              as={address.as}
              error={error}
              shownLine={shownLine}
              onAs={(as) => address.show({ as })}
              onType={(field, text) => onAction({ type: 'typed', field, text, at: performance.now() })}
              onCursor={setCursorLine}
            />
            <div>
              {error && (
                <ProblemBar
                  error={error}
                  onShow={() => (error.line === undefined ? showPart(error.where) : showLine(error.where, error.line))}
                />
              )}
              {check.kind === 'failed' && <TaskBanner error={check.error} />}
            </div>
          </div>
        }
        result={
          <div className="grid h-full grid-rows-[auto_auto_minmax(0,1fr)]">
            <div className="overflow-x-auto border-line border-b px-3 py-1.5">
              <Segmented
                label="Result"
                value={tab?.name ?? ''}
                onChange={(name) => address.show({ tab: name })}
                options={LAB_TABS.map(({ name, title }) => ({ value: name, text: title }))}
              />
            </div>
            <div>
              <MarkerBanner
                markers={fit.plainMarkers}
                tokenizer={now.tokenizer}
                suggested={suggestedTokenizers(
                  { source: now.source, markers: fit.markers },
                  { chosen: now.tokenizer, known: [BUILT_IN, ...local] },
                )}
                onTokenizer={(name) =>
                  name === BUILT_IN || local.includes(name)
                    ? onAction({ type: 'tokenizer', name })
                    : setDialog({ tokenizer: name })
                }
              />
            </div>
            <div className="min-h-0 overflow-y-auto">
              {tab && (
                <tab.Tab
                  input={input}
                  tokenizer={now.tokenizer}
                  server={server}
                  trajectory={trajectory}
                  run={run}
                  cursorLine={part === 'template' ? cursorLine : undefined}
                  revisions={now.revisions}
                  shown={now.shown}
                  view={address.view}
                  onView={address.setView}
                  onCheck={(judge, signal) => askJudge({ ...input, judge, server, tokenizer: now.tokenizer }, signal)}
                  onLine={(line, revision = now.shown) => {
                    if (revision !== now.shown) onAction({ type: 'shown', number: revision })
                    showLine('template', line)
                  }}
                  onTemplate={(template, why) => {
                    onAction({ type: 'fixed', template, why })
                    showPart('template')
                  }}
                  onMessages={(messages) => {
                    onAction({ type: 'changed', field: 'messages', text: messages })
                    showPart('messages')
                  }}
                />
              )}
            </div>
          </div>
        }
      />
      {dialog === 'revisions' && (
        <RevisionsDialog document={now} onAction={onAction} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'load' && (
        <LabLoadDialog
          hasTools={now.tools.trim() !== ''}
          server={server}
          onLoaded={load}
          onFile={(file) => {
            setDialog(undefined)
            onFile(file)
          }}
          onEarlier={async (document) => {
            setDialog(undefined)
            await onKeep()
            onAction({ type: 'opened', document })
          }}
          onClose={() => setDialog(undefined)}
        />
      )}
      {(sharing || sharedFile) && (
        <LabSharing
          key={sharedFile ? `${sharedFile.name} ${sharedFile.lastModified}` : sharing?.hash}
          hash={sharing?.hash}
          file={sharedFile}
          shown={{
            document: now,
            view: { ...address.view, tab: tab?.name, part, as: address.as },
            against:
              tab?.name === 'compare'
                ? comparedRevision(now.revisions, { shown: input.template, named: address.view.against })
                : undefined,
          }}
          tokenizer={now.tokenizer}
          onOpen={openShared}
          onClose={() => {
            endSharing()
            onSharedFile()
          }}
        />
      )}
      {typeof dialog === 'object' && (
        <LabTokenizerDialog
          tokenizer={now.tokenizer}
          proposed={dialog.tokenizer}
          server={server}
          onChoose={(name) => {
            setDialog(undefined)
            onAction({ type: 'tokenizer', name })
          }}
          onClose={() => setDialog(undefined)}
        />
      )}
    </>
  )
}

/** Returns the step of a key. The case of the letter is ignored, because caps lock with ⇧ gives the small letter. */
function historyKey(event: KeyboardEvent): 'undone' | 'redone' | undefined {
  if (event.defaultPrevented || event.altKey || !(event.ctrlKey || event.metaKey)) return undefined
  const key = event.key.toLowerCase()
  if (key === 'z') return event.shiftKey ? 'redone' : 'undone'
  return key === 'y' && event.ctrlKey ? 'redone' : undefined
}
