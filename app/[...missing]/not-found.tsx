import { LinkButton } from '#components/shell/link-button.tsx'
import { Shell } from '#components/shell/shell.tsx'

/** The page of an address that does not exist. It belongs to this folder, because every other page would load its frame too. */
export default function NotFound() {
  return (
    <Shell title="Page not found" trajectory={undefined}>
      <main className="grid min-h-0 place-content-center justify-items-center gap-4 overflow-y-auto p-6 text-center">
        <div className="max-w-md">
          <h2 className="font-semibold text-lg">Page not found</h2>
          <p className="mt-1 text-dim">
            No page has this address. It may be mistyped, or from another version of Rollscope.
          </p>
        </div>
        <p className="flex flex-wrap justify-center gap-2">
          <LinkButton href="/">Go to the playground</LinkButton>
          <LinkButton href="/library">Open the library</LinkButton>
          <LinkButton href="/docs">Read the documentation</LinkButton>
        </p>
      </main>
    </Shell>
  )
}
