import { FileUp } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { SelectField, TextArea } from '#components/ui/field.tsx'
import { FileButton } from '#components/ui/file-button.tsx'
import type { NamedCompletion } from '#lib/templates/tool-parsing/completions-file.ts'

interface SourceBoxProps {
  readonly completion: NamedCompletion
  /** Completions to choose from: the open trajectory's responses and the file's completions. */
  readonly choices: readonly { readonly label: string; readonly completions: readonly NamedCompletion[] }[]
  readonly onType: (text: string) => void
  readonly onPick: (completion: NamedCompletion) => void
  readonly onFile: (file: File) => void
  /** Why the last file could not be read. */
  readonly fileProblem: string | undefined
}

/** Sample with what the lab makes visible: members that hermes ignores, a number, and text after the calls. */
const SAMPLE = `Let me look.
<tool_call>
{"name": "calculator", "id": "call_1", "arguments": {"expression": "12 * 7"}}
</tool_call>
Done?`

/** Most entries of a list; longer lists are no help. */
const MOST_CHOICES = 500

/** Field for the completion, with choices from the trajectory and from a file. */
export function SourceBox({ completion, choices, onType, onPick, onFile, fileProblem }: SourceBoxProps) {
  const picked = choices.flatMap(({ completions }, group) => {
    const index = completions.indexOf(completion)
    return index < 0 ? [] : [`${group}:${index}`]
  })[0]
  return (
    <section
      aria-label="Completion"
      className="grid gap-2 border-line border-b px-3.5 py-3"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        const [file] = event.dataTransfer.files
        if (!file) return
        event.preventDefault()
        onFile(file)
      }}
    >
      <TextArea
        label={completion.from === '' ? 'Completion of the model' : `Completion: ${completion.from}`}
        value={completion.text}
        onChange={({ target }) => onType(target.value)}
        placeholder="Paste a completion, or drop a file of completions here: JSON lines or trajectories."
        rows={5}
        spellCheck={false}
        className="max-h-[50vh] font-mono text-xs leading-5"
      />
      <div className="flex flex-wrap items-end gap-2">
        {choices.some(({ completions }) => completions.length > 0) && (
          <div className="min-w-48 max-w-full flex-1 sm:max-w-80">
            <SelectField
              label="Pick"
              value={picked ?? ''}
              onChange={({ target }) => {
                const [group = '', index = ''] = target.value.split(':')
                const found = choices[Number(group)]?.completions[Number(index)]
                if (target.value !== '' && found) onPick(found)
              }}
            >
              <option value="">the text above</option>
              {choices.map(({ label, completions }, group) => (
                <optgroup key={label} label={label}>
                  {completions.slice(0, MOST_CHOICES).map((one, index) => (
                    <option key={one.from} value={`${group}:${index}`}>
                      {one.from}: {gist(one.text)}
                    </option>
                  ))}
                </optgroup>
              ))}
            </SelectField>
          </div>
        )}
        <FileButton accept=".json,.jsonl,.txt,application/json,text/plain" label="File of completions" onFile={onFile}>
          <FileUp size={14} aria-hidden /> Open a file
        </FileButton>
        {completion.text === '' && <Button onClick={() => onType(SAMPLE)}>Try a sample</Button>}
      </div>
      {fileProblem !== undefined && (
        <p role="alert" className="text-bad text-xs">
          {fileProblem}
        </p>
      )}
    </section>
  )
}

const LONGEST = 60
const gist = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, LONGEST)
