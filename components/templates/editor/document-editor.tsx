'use client'
import { type ComponentProps, type ReactNode, Suspense } from 'react'
import { lazyCode } from '#components/shell/lazy-code.ts'
import type { LabInput } from '#lib/tasks/task.ts'
import type { LabField } from '#lib/templates/document/document.ts'
import type { InputError } from '#lib/templates/document/input.ts'
import type { CodeEditor, CodeProblem, ShownLine } from './code-editor.tsx'

// The forms are loaded on demand, because the template is shown first.
const MessagesForm = lazyCode(async () => (await import('../forms/messages-form.tsx')).MessagesForm)
const ToolsForm = lazyCode(async () => (await import('../forms/tools-form.tsx')).ToolsForm)
const OptionsForm = lazyCode(async () => (await import('../forms/options-form.tsx')).OptionsForm)

interface DocumentEditorProps {
  readonly input: LabInput
  readonly part: LabField
  /** How messages, tools and options are edited. */
  readonly as: 'form' | 'json'
  readonly error: InputError | undefined
  readonly shownLine: (ShownLine & { readonly where: LabField }) | undefined
  readonly onAs: (as: 'form' | 'json') => void
  readonly onType: (field: LabField, text: string) => void
  readonly onCursor: (line: number) => void
}

const LABELS = {
  template: 'Template',
  messages: 'Messages, JSON',
  tools: 'Tools, JSON',
  options: 'Options, JSON',
} as const

/** Editor of one part of the document: the template as text, other parts as a form or as JSON. */
export function DocumentEditor(props: DocumentEditorProps) {
  const { input, part, as, error, shownLine, onAs, onType, onCursor } = props
  const type = (text: string) => onType(part, text)
  const code = (
    <LazyCodeEditor
      key={part}
      label={LABELS[part]}
      language={part === 'template' ? 'jinja' : 'json'}
      text={input[part]}
      problem={error?.where === part ? problemOf(error) : undefined}
      shownLine={shownLine?.where === part ? shownLine : undefined}
      onChange={type}
      onCursor={part === 'template' ? onCursor : undefined}
    />
  )
  if (part === 'template') return code
  const form: ReactNode =
    part === 'messages' ? (
      <MessagesForm text={input.messages} onChange={type} onText={() => onAs('json')} />
    ) : part === 'tools' ? (
      <ToolsForm text={input.tools} onChange={type} onText={() => onAs('json')} />
    ) : (
      <OptionsForm text={input.options} template={input.template} onChange={type} onText={() => onAs('json')} />
    )
  return as === 'form' ? (
    <div className="h-full overflow-y-auto">
      <Suspense>{form}</Suspense>
    </div>
  ) : (
    code
  )
}

/** Problems by error: the same error must give the same object, because the editor reacts to a new one. */
const problems = new WeakMap<InputError, CodeProblem>()

/** Returns the problem to mark in the editor; undefined if its line is unknown, and only the problem bar shows it. */
function problemOf(error: InputError): CodeProblem | undefined {
  const { className, message, line, column } = error
  if (line === undefined) return undefined
  const known = problems.get(error) ?? { message: `${className}: ${message}`, line, column }
  problems.set(error, known)
  return known
}

// CodeMirror is larger than all other code of the page together, so the text is shown before it is loaded.
const Loaded = lazyCode(async () => (await import('./code-editor.tsx')).CodeEditor)

function LazyCodeEditor(props: ComponentProps<typeof CodeEditor>) {
  return (
    <Suspense
      fallback={
        <pre className="h-full overflow-hidden whitespace-pre-wrap py-2 pl-16 font-mono text-[12.5px] leading-5">
          {props.text}
        </pre>
      }
    >
      <Loaded key={props.language} {...props} />
    </Suspense>
  )
}
