import { Button } from '#components/ui/button.tsx'

/** Replaces a form whose text it cannot show, with a button to the JSON. */
export const Unreadable = ({ why, onText }: { readonly why: string; readonly onText: () => void }) => (
  <div className="grid justify-items-start gap-2.5 p-4">
    <p>{why}</p>
    <p className="text-dim">The form returns when the JSON is valid.</p>
    <Button onClick={onText}>Edit the JSON</Button>
  </div>
)
