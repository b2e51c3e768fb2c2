// Parses a Jenkinsfile without running it and prints, as one line of JSON, every call in it:
// { name, arguments (the constants among them), inside (the names of the calls around it, with
// their first constant, as `stage check`) }, in the order of the file. A syntax error ends it.
import groovy.json.JsonOutput
import org.codehaus.groovy.ast.CodeVisitorSupport
import org.codehaus.groovy.ast.expr.ConstantExpression
import org.codehaus.groovy.ast.expr.MapExpression
import org.codehaus.groovy.ast.expr.MethodCallExpression
import org.codehaus.groovy.control.CompilationUnit
import org.codehaus.groovy.control.Phases

class Calls extends CodeVisitorSupport {
    List found = []
    private List around = []

    @Override
    void visitMethodCallExpression(MethodCallExpression call) {
        def constants = constantsOf(call.arguments)
        def name = call.methodAsString
        found << [name: name, arguments: constants, inside: around.toList()]
        around << (constants ? "$name ${constants[0]}".toString() : name)
        super.visitMethodCallExpression(call)
        around.removeLast()
    }

    private List constantsOf(arguments) {
        arguments.expressions.collectMany { it instanceof MapExpression ? valuesOf(it) : [it] }
            .findAll { it instanceof ConstantExpression }*.value
    }

    private List valuesOf(MapExpression map) { map.mapEntryExpressions*.valueExpression }
}

def unit = new CompilationUnit()
unit.addSource(new File(args[0]))
unit.compile(Phases.CONVERSION)
def calls = new Calls()
unit.AST.modules.each { it.statementBlock.visit(calls) }
println JsonOutput.toJson(calls.found)
