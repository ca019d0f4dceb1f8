'use client'
import { useState } from 'react'
import { useBoundedText } from '#components/sharing/use-bounded-text.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { CheckField, TextArea, TextField } from '#components/ui/field.tsx'
import { FileButton } from '#components/ui/file-button.tsx'
import { LONGEST_TOOLS } from '#lib/sampling/dialects/text-limits.ts'
import { type MockTool, mockToolSchema, toolListProblem } from '#lib/tools/mock-tool.ts'
import { checkToolSchema } from '#lib/tools/tool-schema.ts'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'
import { type ForeignSpec, foreignSpecs } from './tool-import.ts'

interface ToolImportDialogProps {
  /** Names that are in use. */
  readonly known: readonly string[]
  readonly onImport: (tools: readonly MockTool[]) => void
  readonly onClose: () => void
}

/** Imports tool specifications of other programs as mock tools. A specification does not contain what the tool does. */
export function ToolImportDialog({ known, onImport, onClose }: ToolImportDialogProps) {
  const [text, setText] = useState('')
  const { take, takeFile, refusal } = useBoundedText(LONGEST_TOOLS, setText)
  const [reply, setReply] = useState('{"status": "ok"}')
  const [left, setLeft] = useState<readonly string[]>([])
  const read = text.trim() === '' ? undefined : foreignSpecs(text)
  const found = read?.ok ? read.specs : []
  const entries = found.map((spec, index) => ({
    spec,
    key: `${index} ${spec.name}`,
    obstacle: obstacleTo(spec, [...known, ...found.slice(0, index).map(({ name }) => name)]),
  }))
  const chosen = entries.filter(({ key, obstacle }) => obstacle === undefined && !left.includes(key))
  return (
    <Dialog title="Import tools" closesBeside={text === ''} onClose={onClose}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: files are dropped on the field */}
        <div
          onDrop={(event) => {
            const [file] = event.dataTransfer.files
            if (!file) return
            event.preventDefault()
            void takeFile(file)
          }}
        >
          <TextArea
            label="Tools, JSON"
            rows={8}
            className="font-mono text-xs"
            spellCheck={false}
            placeholder='[{"type": "function", "function": {"name": …, "parameters": …}}]'
            value={text}
            error={refusal ?? (read && !read.ok ? read.why : undefined)}
            onChange={({ target }) => take(target.value)}
            data-first-focus=""
          />
        </div>
        <p className="-mt-1.5 text-faint text-xs">
          One tool, a list, or an object with a list “tools”, in the format of OpenAI, Strands, MCP or Anthropic. They
          become mock tools, because a specification does not contain the tool’s code.
        </p>
        <div className="justify-self-start">
          <FileButton accept=".json,application/json" label="File with tools" onFile={takeFile}>
            Choose a file…
          </FileButton>
        </div>
        {entries.length > 0 && (
          <fieldset className="grid" data-imported>
            <legend className="mb-1 font-semibold text-dim text-xs">{entries.length} found</legend>
            {entries.map(({ spec, key, obstacle }) => (
              <CheckField
                key={key}
                label={spec.name}
                note={obstacle ?? `${spec.form}${spec.description === '' ? '' : ` · ${spec.description}`}`}
                disabled={obstacle !== undefined}
                checked={obstacle === undefined && !left.includes(key)}
                onChange={({ target }) =>
                  setLeft(target.checked ? left.filter((other) => other !== key) : [...left, key])
                }
              />
            ))}
          </fieldset>
        )}
        <TextField
          label="Initial reply of each tool"
          className="font-mono"
          value={reply}
          onChange={({ target }) => setReply(target.value)}
        />
        {entries.length > 0 && chosen.length === 0 && (
          <Banner tone="note" title="No tool is valid, or none is selected." />
        )}
        <div className="flex justify-end">
          <Button
            look="primary"
            disabled={chosen.length === 0}
            onClick={() => onImport(chosen.map(({ spec }) => mockOf(spec, reply)))}
          >
            {chosen.length === 0 ? 'Import' : chosen.length === 1 ? 'Import one tool' : `Import ${chosen.length} tools`}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

const mockOf = ({ name, description, inputSchema }: ForeignSpec, reply: string): MockTool => ({
  name,
  ...(description !== '' && { description }),
  inputSchema: inputSchema as MockTool['inputSchema'],
  mock: { reply: { kind: 'canned', text: reply } },
})

/** Returns why a tool cannot be imported; undefined if it can. */
function obstacleTo(spec: ForeignSpec, taken: readonly string[]): string | undefined {
  const tool = mockOf(spec, '')
  const { error } = mockToolSchema.safeParse(tool)
  if (error) return violationText(schemaViolation(error, tool))
  const checked = checkToolSchema(tool.inputSchema)
  if (!checked.ok) return `its arguments: ${violationText(checked.violation)}`
  return toolListProblem([...new Set(taken), spec.name].map((name) => ({ name })))
}
