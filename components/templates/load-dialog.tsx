'use client'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { TrajectoryChoice } from '#components/shell/trajectory-rows/trajectory-choice.tsx'
import { Downloads } from '#components/tokenizer/downloads.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Choice, Choices } from '#components/ui/choices.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { SelectField, TextField } from '#components/ui/field.tsx'
import { FileButton } from '#components/ui/file-button.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import { ApiError } from '#lib/browser/api.ts'
import { latestTrajectoriesOptions } from '#lib/browser/library/library.ts'
import { serversOptions } from '#lib/browser/queries.ts'
import { sampleConversation, sampleTemplate, tokenizerTemplates } from '#lib/browser/templates/template-sources.ts'
import { useEarlierDocuments } from '#lib/browser/templates/use-lab-document.ts'
import { downloadsOptions } from '#lib/browser/tokenizers.ts'
import { nodeAt, readJsonText } from '#lib/json/json-text.ts'
import { displayedRevision, type LabDocument, type SourceContents } from '#lib/templates/document/document.ts'
import { CONVERSATIONS, TEMPLATES } from '#lib/templates/document/samples.ts'
import type { NamedTemplate } from '#lib/templates/document/template-files.ts'
import { timeText } from '#lib/util/text/times.ts'
import { useSources } from './use-lab-opening.ts'

interface LabLoadDialogProps {
  readonly hasTools: boolean
  readonly server: string
  readonly onLoaded: (loaded: SourceContents) => void
  readonly onFile: (file: File) => void
  readonly onEarlier: (document: LabDocument) => void
  readonly onClose: () => void
}

const PLACES = ['samples', 'model', 'server', 'file', 'trajectory', 'earlier'] as const
type Place = (typeof PLACES)[number]
const PLACE_NAMES = {
  samples: 'Samples',
  model: 'Model',
  server: 'Server',
  file: 'File',
  trajectory: 'Trajectory',
  earlier: 'Earlier',
} as const
const LATEST = 20

/** Dialog that loads templates and conversations from all sources. A loaded template becomes a new revision. */
export function LabLoadDialog({ hasTools, server, onLoaded, onFile, onEarlier, onClose }: LabLoadDialogProps) {
  const [place, setPlace] = useState<Place>('samples')
  const [state, setState] = useState<'asking' | 'loading' | ApiError>('asking')
  const running = useRef(new AbortController())
  useEffect(() => () => running.current.abort(), [])
  const load = useSources()
  const { data: waitingFor } = useQuery(downloadsOptions(state === 'loading'))
  /** Runs one load at a time: a new one cancels the previous one. */
  const attempt = async <T,>(fetching: (signal: AbortSignal) => Promise<T>, then: (result: T) => void) => {
    running.current.abort()
    const controller = new AbortController()
    running.current = controller
    setState('loading')
    try {
      const result = await fetching(controller.signal)
      if (controller.signal.aborted) return
      setState('asking')
      then(result)
    } catch (error) {
      if (controller.signal.aborted) return
      if (!(error instanceof ApiError)) throw error
      setState(error)
    }
  }
  return (
    <Dialog title="Load" onClose={onClose}>
      <div className="grid gap-4">
        <Segmented<Place>
          label="From"
          value={place}
          onChange={(chosen) => {
            running.current.abort()
            setState('asking')
            setPlace(chosen)
          }}
          options={PLACES.map((value) => ({ value, text: PLACE_NAMES[value] }))}
          canWrap
        />
        {place === 'samples' && (
          <div>
            <Heading>Templates in the style of known models</Heading>
            <Choices>
              {TEMPLATES.map(({ name, title, note }) => (
                <Choice
                  key={name}
                  title={title}
                  note={note}
                  onChoose={() => attempt((signal) => sampleTemplate(name, signal), onLoaded)}
                />
              ))}
            </Choices>
            <Heading>Conversations</Heading>
            <Choices>
              {CONVERSATIONS.map(({ name, title, note }) => (
                <Choice
                  key={name}
                  title={title}
                  note={note}
                  onChoose={() => attempt((signal) => sampleConversation(name, signal), onLoaded)}
                />
              ))}
            </Choices>
          </div>
        )}
        {place === 'model' && (
          <ModelForm
            onRead={(name, then) => attempt((signal) => tokenizerTemplates(name, signal), then)}
            onLoad={(name, template) =>
              attempt((signal) => load({ kind: 'tokenizer', name, template }, hasTools, signal), onLoaded)
            }
          />
        )}
        {place === 'server' && (
          <ServerForm
            server={server}
            onLoad={(name) => attempt((signal) => load({ kind: 'server', name }, hasTools, signal), onLoaded)}
          />
        )}
        {place === 'file' && (
          <div className="grid justify-items-start gap-3">
            <p className="text-dim">
              A .jinja file, tokenizer_config.json, chat_template.json, a JSON list of messages, or a shared lab
              document. Such a file can also be dropped anywhere on this page.
            </p>
            <FileButton accept=".jinja,.jinja2,.j2,.json,.jsonc,.txt" label="Template file" onFile={onFile}>
              Choose a file
            </FileButton>
          </div>
        )}
        {place === 'trajectory' && (
          <TrajectoryList
            onLoad={(key) => attempt((signal) => load({ kind: 'trajectory', key }, hasTools, signal), onLoaded)}
          />
        )}
        {place === 'earlier' && <EarlierList onOpen={onEarlier} />}
        {state instanceof ApiError && <Banner tone="bad" title={state.message} hint={state.hint} />}
        {state === 'loading' && (
          <>
            <p className="text-faint text-xs" role="status">
              Loading…
            </p>
            {waitingFor && <Downloads downloads={waitingFor.downloads} />}
          </>
        )}
      </div>
    </Dialog>
  )
}

interface ModelFormProps {
  readonly onRead: (name: string, then: (templates: readonly NamedTemplate[]) => void) => void
  /** `template` is the name of one of the model's templates; undefined if it has only one. */
  readonly onLoad: (name: string, template: string | undefined) => void
}

function ModelForm({ onRead, onLoad }: ModelFormProps) {
  const [name, setName] = useState('')
  const [found, setFound] = useState<{ readonly name: string; readonly templates: readonly NamedTemplate[] }>()
  const read = (event: FormEvent) => {
    event.preventDefault()
    const wanted = name.trim()
    setFound(undefined)
    onRead(wanted, (templates) =>
      templates.length > 1 ? setFound({ name: wanted, templates }) : onLoad(wanted, undefined),
    )
  }
  return (
    <div className="grid gap-3">
      <form className="flex items-end gap-2" onSubmit={read}>
        <div className="min-w-0 flex-1">
          <TextField
            label="A name or folder under ROLLSCOPE_TOKENIZERS, a Hub name, or built-in"
            placeholder="Qwen/Qwen3-8B"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <Button look="primary" type="submit" disabled={name.trim() === ''}>
          Load
        </Button>
      </form>
      <p className="text-faint text-xs">Its tokenizer is loaded too. The model itself is not downloaded.</p>
      {found && (
        <div>
          <Heading>{found.name} has several templates</Heading>
          <Choices>
            {found.templates.map((template) => (
              <Choice
                key={template.name}
                title={template.name}
                note={`${template.text.split('\n').length} lines`}
                onChoose={() => onLoad(found.name, template.name)}
              />
            ))}
          </Choices>
        </div>
      )}
    </div>
  )
}

function ServerForm({ server, onLoad }: { readonly server: string; readonly onLoad: (name: string) => void }) {
  const { data } = useQuery(serversOptions())
  const [chosen, setChosen] = useState(server)
  const name = chosen === '' ? (data?.default ?? '') : chosen
  const load = (event: FormEvent) => {
    event.preventDefault()
    onLoad(name)
  }
  return (
    <form className="grid gap-3" onSubmit={load}>
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <SelectField label="Server" value={name} onChange={(event) => setChosen(event.target.value)}>
            {data?.servers.map((known) => (
              <option key={known.name}>{known.name}</option>
            ))}
          </SelectField>
        </div>
        <Button look="primary" type="submit" disabled={name === ''}>
          Load
        </Button>
      </div>
      <p className="text-faint text-xs">
        The template of the tokenizer that the server names. A server started with another template does not report it.
      </p>
    </form>
  )
}

function TrajectoryList({ onLoad }: { readonly onLoad: (key: string) => void }) {
  const { data } = useQuery(latestTrajectoriesOptions(LATEST))
  if (!data) return <p className="text-faint text-xs">Reading the library…</p>
  if (data.trajectories.length === 0)
    return <p className="text-dim">Nothing is stored yet. Run something in the playground, or open a file.</p>
  return (
    <div>
      <p className="mb-2 text-dim">
        Its template, options, tools and messages; its ids are the reference for the mask.
      </p>
      <Choices>
        {data.trajectories.map((row) => (
          <TrajectoryChoice key={row.key} row={row} onChoose={onLoad} />
        ))}
      </Choices>
    </div>
  )
}

function EarlierList({ onOpen }: { readonly onOpen: (document: LabDocument) => void }) {
  const documents = useEarlierDocuments()
  if (!documents) return <p className="text-faint text-xs">Reading this browser…</p>
  if (documents.length === 0)
    return (
      <p className="text-dim">
        No documents yet. A document is kept here when a shared one, or one from another window, replaces it.
      </p>
    )
  return (
    <div>
      <p className="mb-2 text-dim">
        Replaced documents of this browser. Loading one of them keeps the current document here.
      </p>
      <Choices>
        {documents.map(({ key, at, document }) => (
          <Choice
            key={key}
            title={displayedRevision(document).name}
            note={[timeText(at), firstContent(document.messages)].filter((part) => part !== '').join(' · ')}
            onChoose={() => onOpen(document)}
          />
        ))}
      </Choices>
    </div>
  )
}

/** Returns the content of the first message of a user; '' if there is none. */
function firstContent(messages: string): string {
  const reading = readJsonText(messages)
  if (!reading.ok || reading.root.kind !== 'array') return ''
  for (const item of reading.root.items) {
    const [role, content] = ['role', 'content'].map((key) => nodeAt(item, [key]))
    if (role?.kind === 'string' && role.value === 'user' && content?.kind === 'string')
      return content.value.slice(0, 100)
  }
  return ''
}
