vars.put('signature', 'by-' + vars.get('user'))
