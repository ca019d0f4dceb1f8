'use client'
/** The page of the inference servers: their status, and the saved addresses and keys. */
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { ChevronLeft, Plus } from 'lucide-react'
import { parseAsString, useQueryState } from 'nuqs'
import { useEffect, useRef, useState } from 'react'
import { SettingsExchange } from '#components/sharing/settings-exchange.tsx'
import { downloadText, ServerLight, type ShownStatus } from '#components/shell/server-state.tsx'
import { Shell } from '#components/shell/shell.tsx'
import { displayedStatus } from '#components/shell/use-server-status.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import type { ServerEntry } from '#lib/api/server-status.ts'
import { ApiError } from '#lib/browser/api.ts'
import { hintOf } from '#lib/browser/hint-of.ts'
import { serverStatusOptions, serversOptions } from '#lib/browser/queries.ts'
import { removeServer, saveServer, serverLoadOptions } from '#lib/browser/servers.ts'
import { useSetup } from '#lib/browser/use-setup.ts'
import { RemoveDialog } from './remove-dialog.tsx'
import { ServerDetails } from './server-details.tsx'
import { EMPTY_DRAFT, type ServerDraft, serverDraftOf, serverInputOf } from './server-draft.ts'
import { ServerForm } from './server-form.tsx'
import { ServerList } from './server-list.tsx'

/** Key of the draft of a new server, which no server can have as its name. */
const NEW = ''
const UNASKED = { data: undefined, error: null }

/** Shows the list of servers and the details of one. */
export function ServersScreen() {
  const [setup, setSetup, isSetupReading] = useSetup()
  const { data, error } = useQuery(serversOptions())
  const servers = data?.servers ?? []
  const statuses = useQueries({ queries: servers.map(({ name }) => serverStatusOptions(name)) })
  const [asked, setAsked] = useQueryState('server', parseAsString.withOptions({ history: 'push' }))
  const [isAdding, setIsAdding] = useState(false)
  /** Unsaved input by the name of the server, so that looking at another server loses nothing. */
  const [drafts, setDrafts] = useState<Readonly<Record<string, ServerDraft>>>({})
  const used = setup.server === '' ? data?.default : setup.server
  const selected = isAdding ? undefined : servers.find(({ name }) => name === (asked ?? used))
  const target = isAdding ? NEW : selected?.name
  const draft = target === undefined ? undefined : drafts[target]
  /** Where the focus moves after the focused element is unmounted. */
  const [focus, setFocus] = useState<{ readonly on: 'server' | 'list' }>()
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    if (focus?.on === 'list') list.current?.focus()
  }, [focus])
  const rows = servers.map((server, index) => ({ server, status: displayedStatus(statuses[index] ?? UNASKED) }))
  const select = (name: string) => {
    setIsAdding(false)
    setFocus(undefined)
    setAsked(name)
  }
  const keep = (name: string, changed: ServerDraft | undefined) =>
    setDrafts(({ [name]: _, ...others }) => (changed ? { ...others, [name]: changed } : others))
  const isNarrowDetail = asked !== null || isAdding
  return (
    <Shell title="Servers" server={setup.server} trajectory={undefined}>
      <main className="grid min-h-0 grid-rows-[minmax(0,1fr)] lg:grid-cols-[320px_minmax(0,1fr)]">
        <section
          ref={list}
          tabIndex={-1}
          aria-label="All servers"
          className={`overflow-y-auto bg-panel p-3.5 lg:block lg:border-line lg:border-r ${isNarrowDetail ? 'hidden' : ''}`}
        >
          <Heading>Servers</Heading>
          {error && <Banner tone="bad" title={error.message} hint={hintOf(error)} />}
          <ServerList rows={rows} selected={selected?.name} used={used ?? ''} onSelect={select} />
          {/* What follows the list is shown with it, because it would move down otherwise. */}
          <div className={data || error ? '' : 'invisible'}>
            <Button
              className="mt-3"
              onClick={() => {
                setIsAdding(true)
                keep(NEW, drafts[NEW] ?? EMPTY_DRAFT)
              }}
            >
              <Plus size={15} aria-hidden /> Add a server
            </Button>
            <Heading>Settings</Heading>
            <SettingsExchange {...{ servers, setup, isSetupReading }} onSetup={setSetup} />
          </div>
        </section>
        <section
          aria-label="Server"
          className={`min-w-0 overflow-y-auto p-3.5 lg:block lg:p-6 ${isNarrowDetail ? '' : 'hidden'}`}
        >
          <Button
            look="quiet"
            className="-ml-2.5 mb-2 lg:hidden"
            onClick={() => {
              setIsAdding(false)
              setAsked(null)
            }}
          >
            <ChevronLeft size={15} aria-hidden /> All servers
          </Button>
          {target !== undefined && draft ? (
            <Editor
              key={target}
              saved={selected}
              draft={draft}
              onChange={(changed) => keep(target, changed)}
              onSaved={(server) => {
                keep(target, undefined)
                if (selected && setup.server === selected.name) setSetup({ ...setup, server: server.name })
                select(server.name)
                setFocus({ on: 'server' })
              }}
              onCancel={() => {
                keep(target, undefined)
                setIsAdding(false)
                setFocus({ on: 'server' })
              }}
            />
          ) : selected ? (
            <Server
              key={selected.name}
              server={selected}
              status={rows.find(({ server }) => server === selected)?.status ?? { state: 'asking' }}
              isUsed={selected.name === used}
              takesFocus={focus?.on === 'server'}
              onUse={() => setSetup({ ...setup, server: selected.name })}
              onEdit={() => keep(selected.name, serverDraftOf(selected))}
              onRemoved={() => {
                if (setup.server === selected.name) setSetup({ ...setup, server: '' })
                setAsked(null)
                setFocus({ on: 'list' })
              }}
            />
          ) : (
            data &&
            asked !== null && (
              <Banner
                tone="bad"
                title={`There is no server named “${asked}”.`}
                hint="It may have been removed or renamed."
              />
            )
          )}
        </section>
      </main>
    </Shell>
  )
}

interface EditorProps {
  readonly saved: ServerEntry | undefined
  readonly draft: ServerDraft
  readonly onChange: (draft: ServerDraft) => void
  readonly onSaved: (server: ServerEntry) => void
  readonly onCancel: () => void
}

function Editor({ saved, draft, onChange, onSaved, onCancel }: EditorProps) {
  const cache = useQueryClient()
  const [problem, setProblem] = useState<ApiError>()
  const [isSaving, setIsSaving] = useState(false)
  const first = useRef<HTMLInputElement>(null)
  useEffect(() => first.current?.focus(), [])
  const save = async () => {
    setProblem(undefined)
    setIsSaving(true)
    try {
      const server = await saveServer(serverInputOf(draft, saved), saved?.name)
      await cache.invalidateQueries({ queryKey: serversOptions().queryKey })
      for (const { queryKey } of [serverStatusOptions(server.name), serverLoadOptions(server.name)])
        void cache.invalidateQueries({ queryKey })
      onSaved(server)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setProblem(error)
    } finally {
      setIsSaving(false)
    }
  }
  return (
    <>
      <h2 className="mb-4 font-semibold text-lg">{saved ? `Change ${saved.name}` : 'Add a server'}</h2>
      <ServerForm
        draft={draft}
        saved={saved}
        problem={problem}
        isSaving={isSaving}
        first={first}
        onChange={onChange}
        onSave={save}
        onCancel={onCancel}
      />
    </>
  )
}

interface ServerProps {
  readonly server: ServerEntry
  readonly status: ShownStatus
  readonly isUsed: boolean
  readonly takesFocus: boolean
  readonly onUse: () => void
  readonly onEdit: () => void
  readonly onRemoved: () => void
}

const SOURCES = {
  'built-in': 'comes with Rollscope',
  environment: 'set by SGLANG_BASE_URL',
  saved: 'saved',
} as const

function Server({ server, status, isUsed, takesFocus, onUse, onEdit, onRemoved }: ServerProps) {
  const { name, baseUrl, source, hasKey } = server
  const cache = useQueryClient()
  const [isRemoving, setIsRemoving] = useState(false)
  const [problem, setProblem] = useState<ApiError>()
  const [tested, setTested] = useState<'testing' | Date>()
  const { data: load } = useQuery({ ...serverLoadOptions(name), enabled: status.state === 'ready' })
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (takesFocus) heading.current?.focus()
  }, [takesFocus])
  const test = async () => {
    setTested('testing')
    await cache.refetchQueries({ queryKey: serverStatusOptions(name).queryKey })
    setTested(new Date())
  }
  const remove = async () => {
    try {
      await removeServer(name)
      await cache.invalidateQueries({ queryKey: serversOptions().queryKey })
      onRemoved()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setProblem(error)
    }
  }
  return (
    <article aria-label={name} data-server={name} data-state={status.state}>
      <h2 ref={heading} tabIndex={-1} className="flex items-center gap-2.5 font-semibold text-lg">
        <ServerLight status={status} />
        <span className="min-w-0 [overflow-wrap:anywhere]">{name}</span>
      </h2>
      <p className="mt-0.5 text-dim text-xs">
        <span className="font-mono [overflow-wrap:anywhere]">{baseUrl}</span> · {SOURCES[source]}
        {hasKey && ' · a key is stored'}
      </p>
      <div className="mt-3 flex flex-wrap items-center gap-2">
        <Button onClick={onUse} disabled={isUsed}>
          {isUsed ? 'Used in the playground' : 'Use in the playground'}
        </Button>
        <Button onClick={test} disabled={tested === 'testing'}>
          Test
        </Button>
        {source === 'saved' && (
          <>
            <Button onClick={onEdit}>Change</Button>
            <Button onClick={() => setIsRemoving(true)}>Remove</Button>
          </>
        )}
        <p role="status" className="text-dim text-xs">
          {tested === 'testing' && 'Testing…'}
          {tested instanceof Date && testText(status, tested)}
        </p>
      </div>
      <div className="mt-6 max-w-6xl">
        {status.state === 'ready' && <ServerDetails status={status} load={load} />}
        {status.state === 'asking' && <p className="text-faint">Contacting the server…</p>}
        {status.state === 'starting' && (
          <p className="text-warn">
            It is starting: {status.download ? downloadText(status.download) : 'its model is not loaded yet'}.
          </p>
        )}
        {status.state === 'failed' && (
          <Banner tone="bad" title={status.message} hint={status.hint}>
            <code className="font-mono text-dim text-xs">{status.code}</code>
          </Banner>
        )}
      </div>
      {isRemoving && (
        <RemoveDialog
          server={server}
          problem={problem}
          onRemove={remove}
          onClose={() => {
            setIsRemoving(false)
            setProblem(undefined)
          }}
        />
      )}
    </article>
  )
}

const TESTS = {
  asking: 'checking…',
  starting: 'it responds, and is starting',
  ready: 'it is ready',
  failed: 'it cannot be used',
} as const

const testText = ({ state }: ShownStatus, at: Date): string => `Tested at ${at.toLocaleTimeString()}: ${TESTS[state]}.`
