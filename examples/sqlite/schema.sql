CREATE TABLE tasks (id TEXT PRIMARY KEY, title TEXT, description TEXT, status TEXT DEFAULT 'pending', priority INTEGER DEFAULT 2);
INSERT INTO tasks (id, title, description, status, priority) VALUES
  ('login', 'Log in', 'POST /login answers 204', 'in_progress', 1),
  ('logout', 'Log out', 'POST /logout answers 204', 'pending', 2),
  ('sso', 'Single sign-on', NULL, 'cancelled', 3);
