import { Dialog } from '#components/ui/dialog.tsx'
import { Heading } from '#components/ui/facts.tsx'

const KEYS: readonly (readonly [heading: string, keys: readonly (readonly [keys: string, what: string])[]])[] = [
  [
    'Anywhere',
    [
      ['⌘/Ctrl ↵', 'send the question'],
      ['?', 'these keys'],
    ],
  ],
  [
    'In the tokens',
    [
      ['← →, k j', 'one token back, on'],
      ['↑ ↓', 'one row up, down'],
      ['K J', 'one segment back, on'],
      ['Home End', 'first, last token'],
      ['Esc', 'let go of the token'],
    ],
  ],
  [
    'In the template lab',
    [
      ['⌘/Ctrl Z', 'undo, over all parts and revisions; with ⇧ redo'],
      ['Esc, then Tab', 'leave the editor; Ctrl M switches Tab for good'],
      ['⌘/Ctrl F', 'search in the editor'],
      ['⌥/Alt ↑ ↓', 'move a message or tool, or a line'],
    ],
  ],
  [
    'In the library',
    [
      ['/', 'search'],
      ['↑ ↓, k j', 'one row up, down'],
      ['↵', 'open the trajectory'],
      ['Space, x', 'choose it, or no longer'],
      ['e', 'edit title, tags, reward, note; Esc leaves'],
      ['Delete', 'delete it, or all chosen'],
      ['u', 'undo the last deletion'],
    ],
  ],
]

export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      {KEYS.map(([heading, keys]) => (
        <section key={heading} className="not-first:mt-4">
          <Heading>{heading}</Heading>
          <dl className="grid grid-cols-[8rem_1fr] gap-y-1.5 text-sm">
            {keys.map(([name, what]) => (
              <div key={name} className="contents">
                <dt>
                  <kbd className="font-mono text-dim">{name}</kbd>
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  )
}
