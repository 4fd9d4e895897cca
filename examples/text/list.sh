# Prints todo.txt as JSON, one object a line: "id: title", and an x before what is done.
sed -n -e 's/\\/\\\\/g' -e 's/"/\\"/g' \
  -e '/^x /s/^x \([^:]*\): \(.*\)/{"id": "\1", "title": "\2", "status": "done"}/p' \
  -e '/^{/!s/^\([^:]*\): \(.*\)/{"id": "\1", "title": "\2", "status": "open"}/p' todo.txt
