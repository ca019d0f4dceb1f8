import { DocsScreen } from '#components/docs/screen.tsx'

/** The page of an address below /docs that does not exist, with the list of all pages. */
export default function NotFound() {
  return (
    <DocsScreen shown="">
      <h2 className="font-semibold text-xl">Page not found</h2>
      <p className="mt-1 text-dim">The documentation has no page with this address.</p>
    </DocsScreen>
  )
}
