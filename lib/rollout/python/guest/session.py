"""Runs one call after another in the same interpreter. The last expression is a function from a call to its result."""


def _session():
    import ast
    import asyncio
    import gc
    import io
    import json
    import linecache
    import random
    import sys
    import time
    import traceback
    import types

    # The additions of Pyodide lead to JavaScript. They can no longer be imported, and no object refers to one.
    foreign = ("js", "pyodide", "pyodide_js", "_pyodide", "_pyodide_core")
    is_foreign = lambda name: name.partition(".")[0] in foreign
    proxy = sys.modules["pyodide.ffi"].JsProxy
    sys.meta_path[:] = [finder for finder in sys.meta_path if not is_foreign(type(finder).__module__)]
    for name in [name for name in sys.modules if is_foreign(name)]:
        del sys.modules[name]
    for holder in gc.get_objects():
        members = holder if type(holder) is dict else vars(holder) if type(holder).__module__ == "_pyodide._importhook" else {}
        for member in [member for member, value in members.items() if isinstance(value, proxy)]:
            del members[member]

    class NoForeign:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if is_foreign(name):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    sys.meta_path.insert(0, NoForeign)

    class Loop(asyncio.BaseEventLoop):
        """Waits only for the clock, because there are no other events."""

        class _selector:
            @staticmethod
            def select(timeout):
                time.sleep(timeout or 0)
                return []

        def _process_events(self, events):
            pass

        def _write_to_self(self):
            pass

    class Policy(asyncio.events._BaseDefaultEventLoopPolicy):
        _loop_factory = Loop

    # Pyodide's own versions use JavaScript.
    asyncio.run = asyncio.run.__wrapped__
    time.sleep = time.sleep.__wrapped__
    asyncio.events._set_event_loop_policy(Policy())
    asyncio.events._set_running_loop(None)
    random.seed()

    # Output is not buffered in Python, so it is sent immediately.
    for name in ("stdout", "stderr"):
        buffered = getattr(sys, name)
        raw = io.FileIO(buffered.fileno(), "w", closefd=False)
        stream = io.TextIOWrapper(raw, encoding="utf-8", errors=buffered.errors, write_through=True)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)

    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    namespace = vars(main)

    def execute(tree, file):
        last = tree.body[-1] if tree.body else None
        if not isinstance(last, ast.Expr):
            exec(compile(tree, file, "exec"), namespace)
            return None
        tree.body.pop()
        exec(compile(tree, file, "exec"), namespace)
        value = eval(compile(ast.Expression(last.value), file, "eval"), namespace)
        return None if value is None else repr(value)

    own = sys._getframe().f_code.co_filename

    def trimmed(error, seen):
        """Removes the frames of this file and those above the code of the calls, which are not from its author."""
        if error is None or id(error) in seen:
            return
        seen.add(id(error))
        tb = error.__traceback__
        while tb is not None and not tb.tb_frame.f_code.co_filename.startswith("<call "):
            tb = tb.tb_next
        error.__traceback__ = tb
        while tb is not None:
            while tb.tb_next is not None and tb.tb_next.tb_frame.f_code.co_filename == own:
                tb.tb_next = tb.tb_next.tb_next
            tb = tb.tb_next
        trimmed(error.__cause__, seen)
        trimmed(error.__context__, seen)

    def flush():
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            try:
                stream.flush()
            except BaseException:
                pass

    dumps = json.dumps
    format_exception = traceback.format_exception

    def run(code, number):
        file = f"<call {number}>"
        linecache.cache[file] = (len(code), None, code.splitlines(True), file)
        try:
            answer = {"value": execute(ast.parse(code, file), file)}
        except BaseException as error:
            trimmed(error, set())
            try:
                text = "".join(format_exception(error, colorize=False))
            except BaseException as again:
                text = f"{type(error).__name__} (its traceback cannot be written: {type(again).__name__})"
            answer = {"error": text}
            del error
        flush()
        return dumps(answer)

    return run


_session()
