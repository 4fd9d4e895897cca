# Takes the x away before a line.
sed "s/^x $1:/$1:/" todo.txt > todo.new && mv todo.new todo.txt
