-- The key of an address that quotes its local part for the sake of dots alone has no quotes any more
-- (maild/message/fields/address.py): who is suppressed, listed or known by the old one stays so.
UPDATE OR REPLACE suppressions
  SET email = substr(email, 2, instr(email, '"@') - 2) || substr(email, instr(email, '"@') + 1)
  WHERE email GLOB '"?*"@*' AND substr(email, 2, instr(email, '"@') - 2) NOT GLOB '*[] "(),:;<>@\[]*';
UPDATE rules
  SET value = substr(value, 2, instr(value, '"@') - 2) || substr(value, instr(value, '"@') + 1)
  WHERE value GLOB '"?*"@*' AND substr(value, 2, instr(value, '"@') - 2) NOT GLOB '*[] "(),:;<>@\[]*';
UPDATE OR REPLACE correspondents
  SET address = substr(address, 2, instr(address, '"@') - 2) || substr(address, instr(address, '"@') + 1)
  WHERE address GLOB '"?*"@*' AND substr(address, 2, instr(address, '"@') - 2) NOT GLOB '*[] "(),:;<>@\[]*';
UPDATE OR IGNORE members
  SET email = substr(email, 2, instr(email, '"@') - 2) || substr(email, instr(email, '"@') + 1)
  WHERE email GLOB '"?*"@*' AND substr(email, 2, instr(email, '"@') - 2) NOT GLOB '*[] "(),:;<>@\[]*';
