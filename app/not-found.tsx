import { Link } from '#components/shell/navigation.tsx'

/** The part of every page for an address that does not exist. Folders have pages with the header, which are shown before this one. */
export default function NotFound() {
  return (
    <main className="grid h-dvh place-content-center gap-2 p-4 text-center">
      <title>Page not found · Rollscope</title>
      <h1 className="font-semibold text-lg">Page not found</h1>
      <Link href="/" className="justify-self-center text-accent hover:underline">
        Go to the playground
      </Link>
    </main>
  )
}
