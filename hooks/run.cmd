: <<'CMD'
@echo off
rem Windows runs the lines up to CMD, every other system those below. There are no
rem jumps, which cmd.exe misses in a file of such line ends, and where.exe is not
rem asked, since it looks first in the working folder, which may be a stranger's.
for %%i in (ralph-stop-hook.exe) do set "RALPH_BINARY=%%~$PATH:i"
if not defined RALPH_BINARY set "RALPH_BINARY=%CLAUDE_PLUGIN_DATA%\bin\ralph-stop-hook.exe"
if exist "%RALPH_BINARY%" "%RALPH_BINARY%" %*
if not exist "%RALPH_BINARY%" if not exist "%CLAUDE_PLUGIN_DATA%\told" (
type nul >"%CLAUDE_PLUGIN_DATA%\told"
echo {"systemMessage":"ralph-stop-hook: the plugin does not find its program, so no loop can work; get it with: go install github.com/ralph-stop-hook/ralph-stop-hook/cmd/ralph-stop-hook@latest, and have the bin folder of Go on PATH"}
)
exit /b 0
CMD
# Runs the program with these arguments: the one on PATH, else the one in the
# plugin's data folder. Where there is none, that is said once, and no session
# is disturbed. At some values of these variables Go's runtime ends with status 2,
# which the client takes for a block.
unset GODEBUG GOGC GOMAXPROCS GOMEMLIMIT
binary=$(command -v ralph-stop-hook) || binary=$CLAUDE_PLUGIN_DATA/bin/ralph-stop-hook
[ -x "$binary" ] && exec "$binary" "$@"
# Of several sessions one makes the file, and tells.
if (set -C && : >"${CLAUDE_PLUGIN_DATA:?}/told") 2>/dev/null; then
	echo '{"systemMessage":"ralph-stop-hook: the plugin does not find its program, so no loop can work; get it with: go install github.com/ralph-stop-hook/ralph-stop-hook/cmd/ralph-stop-hook@latest, and have the bin folder of Go on PATH"}'
fi
exit 0
